import type { GroupView } from "../../../core/protocol/group-api.ts";
import { Icon } from "../../ui/icon.tsx";
import { useNow } from "../../ui/use-now.ts";
import { gateOf } from "./gate-state.ts";

/** Between two components: how long the first is watched before the second begins. Always one line high. */
export function Gate({ group, after }: { readonly group: GroupView; readonly after: number }) {
  const { tone, icon, text } = gateOf(group, after, useNow());
  return (
    <p className="gate-line numbers" data-tone={tone}>
      <Icon name={icon} />
      {text}
    </p>
  );
}
