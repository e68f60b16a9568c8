// Incidents: opened once with their decision, looked at, dealt with, and listed, through the API on a real database.

import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { NodeId, RolloutId } from "../../../src/core/ids.ts";
import type { IncidentDraft } from "../../../src/core/incident/draft.ts";
import type { IncidentList, IncidentView } from "../../../src/core/protocol/incident-api.ts";
import { raiseIncidents } from "../../../src/server/incidents/raise.ts";
import { insertNode, insertRollout } from "../../support/server/health-rows.ts";
import { administrator, type Ask } from "../../support/server/operators-client.ts";
import { startOperatorsSite, type OperatorsSite } from "../../support/server/operators-site.ts";
import { atOnce } from "../../support/server/at-once.ts";

let here: OperatorsSite;
let boss: Ask;
let deputy: Ask;
let rollout: RolloutId;
let node: NodeId;

beforeAll(async () => {
  here = await startOperatorsSite();
  boss = await administrator(here.app, here.db);
  deputy = await administrator(here.app, here.db, "deputy");
  rollout = await insertRollout(here.db);
  node = await insertNode(here.db, "edge-1");
});
afterAll(() => here.stop());

const draft = (changes: Partial<IncidentDraft> = {}): IncidentDraft => ({
  category: "upgrade_failed",
  severity: "critical",
  nodeId: node,
  title: "left half way",
  detail: { code: "COMPENSATION_FAILED", attempt: 2 },
  recoveryPlan: "reprovision",
  ...changes,
});
const raise = async (drafts: readonly IncidentDraft[], id: RolloutId | null = rollout) =>
  here.db.begin((tx) => raiseIncidents(tx, id, drafts, Date.now()));
const list = async (query = "") => (await boss("GET", `/incidents${query}`)).body as IncidentList;
const eventsOf = async (id: string) => {
  const rows = await here.db<{ kind: string; actor: string | null }[]>`
    select kind, actor from events where data->>'incident_id' = ${id} order by id`;
  return rows.map(({ kind, actor }) => [kind, actor]);
};
async function opened(changes: Partial<IncidentDraft> = {}): Promise<IncidentView> {
  const nodeId = await insertNode(here.db, `edge-${randomUUID()}`);
  await raise([draft({ nodeId, ...changes })]);
  return (await list(`?node_id=${nodeId}`)).incidents[0]!;
}

describe("opening", () => {
  test("ROLL-19: the same trouble is one incident until it is resolved, and another one after that", async () => {
    await raise([draft(), draft()]);
    await raise([draft({ title: "decided once more" })]);
    const { incidents } = await list(`?node_id=${node}`);
    expect(incidents).toHaveLength(1);
    expect(incidents[0]).toMatchObject({
      category: "upgrade_failed",
      severity: "critical",
      status: "open",
      node_name: "edge-1",
      rollout_id: rollout,
      title: "left half way",
      detail: { code: "COMPENSATION_FAILED", attempt: 2 },
      recovery_plan: "reprovision",
    });
    const { id } = incidents[0]!;
    expect(await eventsOf(id)).toEqual([["incident.opened", null]]);
    await boss("POST", `/incidents/${id}/resolve`);
    await raise([draft({ title: "again" })]);
    expect((await list(`?node_id=${node}`)).incidents.map(({ title }) => title)).toEqual([
      "again",
      "left half way",
    ]);
  });

  test("ROLL-19: other category, node or rollout is another incident", async () => {
    const nodeId = await insertNode(here.db, "edge-2");
    await raise([
      draft({ nodeId }),
      draft({ nodeId, category: "upgrade_rollback_failed" }),
      draft({ nodeId, category: "upgrade_stalled", severity: "warning" }),
    ]);
    await raise([draft({ nodeId })], await insertRollout(here.db));
    expect((await list(`?node_id=${nodeId}`)).incidents).toHaveLength(4);
  });

  test("ROLL-19: an incident that is rolled back with its decision was never there", async () => {
    const nodeId = await insertNode(here.db, "edge-3");
    await expect(
      here.db.begin(async (tx) => {
        await raiseIncidents(tx, rollout, [draft({ nodeId })], Date.now());
        throw new Error("the decision failed");
      }),
    ).rejects.toThrow("the decision failed");
    expect((await list(`?node_id=${nodeId}`)).incidents).toEqual([]);
  });
});

describe("looking and dealing with it", () => {
  test("ROLL-19: acknowledge and resolve say who and when, and asked twice they stand once", async () => {
    const { id } = await opened();
    const seen = await boss("POST", `/incidents/${id}/acknowledge`, { note: "on my way" });
    expect(seen).toMatchObject({
      status: 200,
      body: { status: "acknowledged", acknowledged_by: "key:boss", resolved_at: null, note: "on my way" },
    });
    expect((await deputy("POST", `/incidents/${id}/acknowledge`)).body).toEqual(seen.body);
    const done = await deputy("POST", `/incidents/${id}/resolve`, {});
    expect(done.body).toMatchObject({ status: "resolved", resolved_by: "key:deputy", note: "on my way" });
    expect((await boss("POST", `/incidents/${id}/resolve`)).body).toEqual(done.body);
    expect((await boss("GET", `/incidents/${id}`)).body).toEqual(done.body);
    expect(await eventsOf(id)).toEqual([
      ["incident.opened", null],
      ["incident.acknowledged", "key:boss"],
      ["incident.resolved", "key:deputy"],
    ]);
  });

  test("ROLL-19: a resolved incident is not acknowledged any more", async () => {
    const { id } = await opened();
    await boss("POST", `/incidents/${id}/resolve`);
    expect(await boss("POST", `/incidents/${id}/acknowledge`)).toMatchObject({
      status: 409,
      code: "ILLEGAL_TRANSITION",
    });
  });

  test("ROLL-19: of two people at once one is written down, and both hear the same", async () => {
    const { id } = await opened();
    const [one, two] = await atOnce(
      here.db,
      (tx) => tx`select 1 from incidents where id = ${id} for update`,
      [boss, deputy].map((ask) => () => ask("POST", `/incidents/${id}/acknowledge`)),
    );
    expect(one!.body).toEqual(two!.body);
    expect((await eventsOf(id)).filter(([kind]) => kind === "incident.acknowledged")).toHaveLength(1);
  });

  test("what is not there is not found, and what is no id or no field is refused", async () => {
    expect((await boss("GET", `/incidents/${randomUUID()}`)).code).toBe("NOT_FOUND");
    expect((await boss("POST", `/incidents/${randomUUID()}/resolve`)).code).toBe("NOT_FOUND");
    expect((await boss("GET", "/incidents/1")).code).toBe("INVALID_INPUT");
    expect((await boss("GET", "/incidents?status=closed")).code).toBe("INVALID_INPUT");
    const { id } = await opened();
    expect((await boss("POST", `/incidents/${id}/resolve`, { who: "me" })).code).toBe("INVALID_INPUT");
  });
});

test("ROLL-19: the list is filtered and given out in pages, each incident once", async () => {
  const other = await insertRollout(here.db);
  const nodes = await Promise.all([1, 2, 3, 4, 5].map((i) => insertNode(here.db, `paged-${i}`)));
  await raise(
    nodes.map((nodeId) => draft({ nodeId, category: "upgrade_stalled", severity: "warning" })),
    other,
  );
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const page: IncidentList = await list(
      `?rollout_id=${other}&limit=2${cursor === null ? "" : `&cursor=${cursor}`}`,
    );
    seen.push(...page.incidents.map(({ node_id }) => node_id!));
    cursor = page.next_cursor;
  } while (cursor !== null);
  expect(seen.toSorted()).toEqual(nodes.toSorted());
  expect((await list(`?rollout_id=${other}&category=upgrade_failed`)).incidents).toEqual([]);
  expect((await list(`?rollout_id=${other}&status=open`)).incidents).toHaveLength(5);
  expect((await list(`?rollout_id=${other}&status=resolved`)).incidents).toEqual([]);
  expect((await boss("GET", "/incidents?cursor=bm9uc2Vuc2U")).code).toBe("INVALID_INPUT");
});
