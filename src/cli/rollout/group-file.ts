/** A group as an operator writes it: the API's fields, with names of nodes in place of ids, and nothing signed yet. */
import { join } from "node:path";
import { z } from "zod";
import { Name, ProfileId, UpgradeId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { GroupCreate } from "../../core/protocol/group-api.ts";
import { RolloutChoice, RolloutWares } from "../../core/rollout/create.ts";
import { Strategy } from "../../core/rollout/states.ts";
import { parseYaml } from "../../host/yaml-file.ts";
import { readNamedFile } from "../operator-files.ts";
import { readManifestWish } from "./manifest-wish.ts";
import { typedWish } from "./typed-wish.ts";
import type { Wish } from "./wish.ts";

const { strategy: _strategy, batch_size, ...choice } = RolloutChoice.shape;
const common = {
  ...choice,
  /** The group's unless said. */
  strategy: Strategy.optional(),
  batch_size: batch_size.default(1),
  chain_profile_id: ProfileId.optional(),
  /** Only these nodes, by name or id. */
  nodes: z.array(z.string().min(1).max(253)).max(LIMITS.rolloutNodesMax).default([]),
};
const Component = z.union([
  z.strictObject({ ...common, upgrade_id: UpgradeId }),
  z.strictObject({ ...common, ...RolloutWares.shape }),
]);
type Component = z.infer<typeof Component>;

const { chain_profile_id, failure_policy, desired_versions, strategy, health_wait_seconds } =
  GroupCreate.shape;
const GroupFile = z.strictObject({
  chain_profile_id,
  failure_policy,
  desired_versions,
  strategy,
  health_wait_seconds,
  components: z.array(Component).min(1).max(32),
});
export type GroupFile = z.infer<typeof GroupFile>;

export interface WishedComponent {
  readonly wish: Wish;
  readonly nodes: readonly string[];
}

export async function readGroupFile(file: string): Promise<GroupFile> {
  const bytes = await readNamedFile("--file", file, LIMITS.manifestBytesMax);
  return parseYaml(bytes, GroupFile, "INVALID_INPUT", file);
}

export async function wishComponents(group: GroupFile, configDir: string): Promise<WishedComponent[]> {
  const wished: WishedComponent[] = [];
  for (const component of group.components)
    wished.push({ wish: await wishOfComponent(group, component, configDir), nodes: component.nodes });
  return wished;
}

function wishOfComponent(group: GroupFile, component: Component, configDir: string): Promise<Wish> | Wish {
  const { chain_profile_id: profile = group.chain_profile_id } = component;
  const chosen = RolloutChoice.parse({
    ...pick(component, RolloutChoice),
    strategy: component.strategy ?? group.strategy,
  });
  if (!("upgrade_id" in component))
    return typedWish(profile, RolloutWares.parse(pick(component, RolloutWares)), chosen);
  const file = join(configDir, "upgrades", Name.parse(profile), `${component.upgrade_id}.yaml`);
  return readManifestWish({
    flag: "upgrade_id",
    file,
    templates: join(configDir, "templates"),
    choice: chosen,
  });
}

const pick = (value: object, schema: { readonly shape: object }): object =>
  Object.fromEntries(Object.entries(value).filter(([key]) => Object.hasOwn(schema.shape, key)));
