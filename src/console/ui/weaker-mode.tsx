import { Icon } from "./icon.tsx";

/** Not closable: what it says stays true until the trust bundle changes. */
export function WeakerMode() {
  return (
    <aside className="banner" aria-label="Weaker mode">
      <Icon name="alert" />
      <p>
        <strong>Weaker mode:</strong> signed intents are not required, so the control plane alone decides what
        nodes run. Name a release key in the trust bundle and require intents to change this.
      </p>
    </aside>
  );
}
