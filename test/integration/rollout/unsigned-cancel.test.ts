// A cancel by somebody without a release key leaves the signed intent valid: every view says so, and it can be signed later.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ProfileId, RolloutId, type NodeId } from "../../../src/core/ids.ts";
import type { GroupView } from "../../../src/core/protocol/group-api.ts";
import type { Intent } from "../../../src/core/protocol/intent.ts";
import type { RolloutView } from "../../../src/core/protocol/operator-api.ts";
import { findVoidIntents } from "../../../src/server/agents/waiting.ts";
import { signIntent } from "../../../src/trust/intent.ts";
import { intentOf } from "../../support/trust.ts";
import { manualRequest } from "../../support/server/creation-site.ts";
import { startDrivenSite, type DrivenSite } from "../../support/server/driven-site.ts";
import { randomUUID } from "node:crypto";

const SERIAL = 1_000;
const HOUR_MS = 3_600_000;

let here: DrivenSite;
let profile: ProfileId;
let node: NodeId;
let count = 0;

beforeAll(async () => void (here = await startDrivenSite()));
afterAll(() => here.stop());
beforeEach(async () => {
  profile = ProfileId.parse(`unsigned-${++count}`);
  node = await here.addNode(`${profile}-1`, { profile });
});

const view = async (id: string) => (await here.ask("GET", `/rollouts/${id}`)).body as RolloutView;
const cancel = (id: string, body: object = {}) => here.ask("POST", `/rollouts/${id}/cancel`, body);

/** The intent is checked when a rollout is created; here it only has to be there. */
async function signed(id: string, serial = SERIAL, until = Date.now() + HOUR_MS): Promise<void> {
  const intent = signIntent(intentOf({ serial, rollout_id: RolloutId.parse(id) }), here.release);
  await here.db`
    update rollouts set intent_frame = ${intent}, intent_digest = ${`sha256:${"0".repeat(64)}`},
      intent_not_after = ${new Date(until)} where id = ${id}`;
}

async function create(): Promise<string> {
  const answer = await here.ask("POST", "/rollouts", manualRequest({ chain_profile_id: profile }));
  expect([answer.status, answer.code]).toEqual([201, undefined]);
  const { id } = answer.body as RolloutView;
  await signed(id);
  return id;
}

async function cancelled(): Promise<string> {
  const id = await create();
  expect((await cancel(id, { reason: "wrong build" })).status).toBe(202);
  await here.settle();
  return id;
}

const empty = (rolloutId: string, changes: Partial<Intent> = {}): string =>
  signIntent(
    intentOf({
      cluster_id: here.clusterId,
      rollout_id: RolloutId.parse(rolloutId),
      chain_profile_id: profile,
      serial: SERIAL + 1,
      fingerprint: null,
      run_digest: null,
      nodes_root: null,
      ...changes,
    }),
    here.release,
  ).toString("base64");

describe("a rollout that was cancelled without a signature", () => {
  test("SNAP-15: says in every view until when its intent is valid and what signs the cancel, and nothing of it once it is signed", async () => {
    const id = await cancelled();
    const before = await view(id);
    expect(before).toMatchObject({
      status: "cancelled",
      intent: { serial: SERIAL, voided: false },
      why: { code: "CANCEL_UNSIGNED" },
    });
    expect(before.why!.text).toContain(`fairlead rollout cancel ${id.slice(0, 8)} --sign`);
    const listed = await here.ask("GET", `/rollouts?chain_profile_id=${profile}`);
    expect(listed.body).toMatchObject({ rollouts: [{ why: { code: "CANCEL_UNSIGNED" } }] });
    expect(await cancel(id, { intent: empty(id), reason: "key is here" })).toMatchObject({ status: 202 });
    expect(await view(id)).toMatchObject({
      status: "cancelled",
      intent: { voided: true },
      why: { code: "CANCELLED" },
    });
  });

  test("SNAP-15: signed later, the empty intent reaches its nodes, and the event names who signed and why", async () => {
    const id = await cancelled();
    const waiting = async () =>
      (await findVoidIntents(here.db, [{ nodeId: node, mark: 0, serials: { [profile]: SERIAL } }])).get(node);
    expect(await waiting()).toBeUndefined();
    await cancel(id, { intent: empty(id), reason: "key is here" });
    expect(await waiting()).toHaveLength(1);
    const events = await here.db`
      select actor, data->>'reason' as reason, (data->>'serial')::bigint as serial from events
      where rollout_id = ${id} and kind = 'rollout.intent_voided'`;
    expect(events).toMatchObject([
      { actor: expect.any(String) as string, reason: "key is here", serial: 1001 },
    ]);
  });

  test("SNAP-15: whose window has closed says nothing of its intent", async () => {
    const id = await cancelled();
    await signed(id, SERIAL, Date.now() - 1);
    expect(await view(id)).toMatchObject({ why: { code: "CANCELLED" } });
  });

  test("SNAP-15: refuses an empty intent that does not outdate its own, one of another rollout, and a second one", async () => {
    const id = await cancelled();
    const refused = { status: 422, code: "INTENT_MISMATCH" };
    expect(await cancel(id, { intent: empty(id, { serial: SERIAL }) })).toMatchObject(refused);
    expect(await cancel(id, { intent: empty(randomUUID()) })).toMatchObject(refused);
    expect(await cancel(id)).toMatchObject({ status: 409, code: "ILLEGAL_TRANSITION" });
    expect((await cancel(id, { intent: empty(id) })).status).toBe(202);
    expect(await cancel(id, { intent: empty(id, { serial: SERIAL + 2 }) })).toMatchObject({
      status: 409,
      code: "ILLEGAL_TRANSITION",
    });
  });

  test("SNAP-15: refuses an empty intent that would outdate what a later rollout was signed for", async () => {
    const id = await cancelled();
    const later = await create();
    await signed(later, SERIAL + 10);
    expect(await cancel(id, { intent: empty(id, { serial: SERIAL + 20 }) })).toMatchObject({
      status: 422,
      code: "INTENT_MISMATCH",
      message: expect.stringContaining("later rollout") as string,
    });
    expect((await cancel(id, { intent: empty(id) })).status).toBe(202);
  });
});

test("SNAP-15: only a cancelled rollout can be signed as called off afterwards", async () => {
  const id = await create();
  await here.db`update rollouts set status = 'completed' where id = ${id}`;
  expect(await cancel(id, { intent: empty(id) })).toMatchObject({ status: 409, code: "ILLEGAL_TRANSITION" });
  expect((await view(id)).intent).toMatchObject({ voided: false });
});

test("SNAP-15: a group that was cancelled without signatures says so, and each component is signed by itself", async () => {
  const request = manualRequest({ chain_profile_id: profile });
  const answer = await here.ask("POST", "/rollout-groups", {
    id: randomUUID(),
    chain_profile_id: profile,
    failure_policy: "manual",
    desired_versions: { web: "2.0.0" },
    component_order: [{ component_index: 0, binary_name: "web", rollout: request }],
  });
  expect([answer.status, answer.code]).toEqual([201, undefined]);
  const { id, components } = answer.body as GroupView;
  const component = components[0]!.rollout.id;
  await signed(component);
  await here.ask("POST", `/rollout-groups/${id}/cancel`, {});
  await here.settle();
  const group = async () => (await here.ask("GET", `/rollout-groups/${id}`)).body as GroupView;
  expect(await group()).toMatchObject({ status: "cancelled", why: { code: "CANCEL_UNSIGNED" } });
  expect((await group()).why!.text).toContain(`fairlead group cancel ${id.slice(0, 8)} --sign`);
  expect((await cancel(component, { intent: empty(component) })).status).toBe(202);
  expect(await group()).toMatchObject({ why: { code: "CANCELLED" } });
});
