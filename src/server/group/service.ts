/** What the operators' API does with groups. Reads rows, writes rows, nudges; decides nothing. */
import type { GroupId } from "../../core/protocol/group-api.ts";
import type { GroupService } from "../api/ports.ts";
import type { CreateDeps } from "../rollout/create.ts";
import { createGroup } from "./create.ts";
import { storeGroupSignal } from "./signal.ts";
import { readGroup, readGroups } from "./views.ts";

export interface GroupDeps extends CreateDeps {
  readonly nudgeGroup: (id: GroupId) => void;
}

export function createGroupService(deps: GroupDeps): GroupService {
  const { db } = deps;
  return {
    get: (id) => readGroup(db, id),
    list: (filter) => readGroups(db, filter),
    async create(request, actor) {
      return readGroup(db, await createGroup(deps, request, actor));
    },
    async signal(id, kind, { actor, request, idempotencyKey }) {
      const stored = await storeGroupSignal(deps, { id, kind, actor, request, idempotencyKey });
      if (stored) deps.nudgeGroup(id);
      return readGroup(db, id);
    },
  };
}
