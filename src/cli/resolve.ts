/** From what an operator typed to the one thing meant: a name, an id, or the beginning of an id. */
import { FairleadError } from "../core/errors.ts";
import { NodeId, RolloutId } from "../core/ids.ts";
import { NodeView, RolloutView } from "../core/protocol/operator-api.ts";
import type { Api } from "./api.ts";
import { listNodes, listRollouts } from "./pages.ts";

const PREFIX = /^[0-9a-f][0-9a-f-]{3,35}$/;
/** A prefix is looked for among the newest so many. */
const ROLLOUTS_SEARCHED_MAX = 5000;
const CANDIDATES_SHOWN_MAX = 10;

export async function resolveNode(api: Api, text: string): Promise<NodeView> {
  const id = NodeId.safeParse(text);
  if (id.success) return api.get(`/api/v1/nodes/${id.data}`, NodeView);
  return pickNode(await listNodes(api), text);
}

/** A name wins over an id's beginning. Of several nodes with one name, the last of the line: each replaced the one before. */
export function pickNode(nodes: readonly NodeView[], text: string): NodeView {
  const named = nodes.filter((node) => node.name === text);
  const last = named.filter((node) => node.revoked_at === null || node.replaced_by === null);
  const live = last.filter((node) => node.revoked_at === null);
  const found = live.length > 0 ? live : last.length > 0 ? last : byPrefix(nodes, text);
  return only("node", text, found, (node) => `${node.name} (${node.id})`);
}

export const readRollout = (api: Api, id: RolloutId): Promise<RolloutView> =>
  api.get(`/api/v1/rollouts/${id}`, RolloutView);

export async function resolveRollout(api: Api, text: string): Promise<RolloutView> {
  const id = RolloutId.safeParse(text);
  if (id.success) return readRollout(api, id.data);
  refuseNoPrefix(text);
  const found = byPrefix(await listRollouts(api, {}, ROLLOUTS_SEARCHED_MAX), text);
  return only(
    "rollout",
    text,
    found,
    (rollout) => `${rollout.id} (${rollout.chain_profile_id}, ${rollout.status})`,
  );
}

export function refuseNoPrefix(text: string): void {
  if (PREFIX.test(text)) return;
  throw new FairleadError(
    "INVALID_INPUT",
    `${JSON.stringify(text)} is not an id, nor 4 or more of its first characters`,
  );
}

export const byPrefix = <T extends { readonly id: string }>(items: readonly T[], text: string): T[] =>
  PREFIX.test(text) ? items.filter((item) => item.id.startsWith(text)) : [];

/** One, or an error that lists those it could be. */
export function only<T>(what: string, text: string, found: readonly T[], label: (item: T) => string): T {
  const [first] = found;
  if (first === undefined)
    throw new FairleadError("NOT_FOUND", `no ${what} is named ${JSON.stringify(text)}`);
  if (found.length === 1) return first;
  const candidates = found.slice(0, CANDIDATES_SHOWN_MAX).map(label);
  const names = `${candidates.join(", ")}${found.length > candidates.length ? ", …" : ""}`;
  throw new FairleadError(
    "INVALID_INPUT",
    `${JSON.stringify(text)} could be ${found.length} ${what}s: ${names}`,
    {
      candidates,
    },
  );
}
