/** Health or sync of a node as it may be claimed now. Ticks by itself, so that its row need not. */
import type { NodeView } from "../../../core/protocol/operator-api.ts";
import { Chip } from "../../ui/chip.tsx";
import { useNow } from "../../ui/use-now.ts";
import { healthLook, healthOf, syncLook, syncOf } from "./node-facts.ts";

export function HealthChip({ node }: { readonly node: NodeView }) {
  const now = useNow();
  return <Chip {...healthLook(healthOf(node, now), node.programs[0], now)} />;
}

export function SyncChip({ node }: { readonly node: NodeView }) {
  const now = useNow();
  return <Chip {...syncLook(syncOf(node, now), node.programs[0], now)} />;
}
