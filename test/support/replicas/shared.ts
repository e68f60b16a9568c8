/** What the suites on one site of replicas share. */
import type { LabNode } from "../lab/node.ts";
import type { ReplicaSite } from "./site.ts";
import type { Upgrades } from "./upgrade.ts";

export interface Shared {
  readonly site: ReplicaSite;
  readonly nodes: readonly LabNode[];
  readonly upgrades: Upgrades;
}
