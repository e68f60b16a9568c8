/** For each key, what an operator does next: shown by `fairlead keys list`. */
import { unreachable } from "../errors.ts";
import { shortKey, type KeyStanding } from "./standing.ts";

export function nextStep(key: KeyStanding, confirmed: number, nodes: number, now: number): string {
  const id = shortKey(key.key_id);
  switch (key.state) {
    case "proposed":
      return "collect root signatures for the bundle that names it, then `fairlead root publish FILE`";
    case "introduced":
      if (confirmed < nodes) return `wait for ${nodes - confirmed} of ${nodes} nodes to confirm it`;
      return `fairlead keys promote ${id}`;
    case "active":
      return key.authority === "root" ? "signs bundles, offline" : "nothing: it is in use";
    case "retiring":
      return key.retire_by !== null && key.retire_by <= now
        ? `fairlead keys retire ${id}, with --abandon NODE for those that did not confirm`
        : `fairlead keys retire ${id}, once every node has confirmed`;
    case "retired":
      return "nothing: it has left";
    case "revoked":
      return "nothing: no node believes it";
    default:
      return unreachable(key.state);
  }
}
