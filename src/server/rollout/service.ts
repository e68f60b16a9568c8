/** What the operators' API does with rollouts. Reads rows, writes rows, nudges; decides nothing. */
import type { RolloutService } from "../api/ports.ts";
import type { Nudge } from "../drive/nudge.ts";
import { createRollout, type CreateDeps } from "./create.ts";
import { storeSignal } from "./signal.ts";
import { readRollout, readRollouts, readRolloutNodes } from "./views.ts";

export function createRolloutService(deps: CreateDeps & { readonly nudge: Nudge }): RolloutService {
  const { db } = deps;
  return {
    get: (id) => readRollout(db, id),
    list: (filter) => readRollouts(db, filter),
    nodes: (id, page) => readRolloutNodes(db, id, page),
    async create(request, actor) {
      return readRollout(db, await createRollout(deps, request, actor));
    },
    async signal(id, kind, { nodeId, actor, request, idempotencyKey }) {
      const stored = await storeSignal(deps, { id, kind, nodeId, actor, request, idempotencyKey });
      if (stored) deps.nudge(id);
      return readRollout(db, id);
    },
  };
}
