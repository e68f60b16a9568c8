// Many machines enroll with one key: each once, no more than it allows, under names that they do not take from others.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EnrollPending, EnrollResponse } from "../../../src/core/protocol/agent-api.ts";
import { EnrollmentKeyCreate } from "../../../src/core/protocol/enrollment-key-api.ts";
import { EnrollmentTokenRequest } from "../../../src/core/protocol/operator-api.ts";
import { getNode } from "../../../src/server/api/node-views.ts";
import type { Database } from "../../../src/server/db/database.ts";
import { approveNode } from "../../../src/server/identity/approval.ts";
import {
  createEnrollmentKey,
  listEnrollmentKeys,
  revokeEnrollmentKey,
} from "../../../src/server/identity/enrollment-keys.ts";
import { createEnrollmentToken } from "../../../src/server/identity/enrollment-tokens.ts";
import { revokeNode } from "../../../src/server/identity/revocation.ts";
import { startTestDatabases, type TestDatabases } from "../../support/database.ts";
import { ask, codeOf, newNodeKey, type Answer, type NodeKey } from "../../support/server/agent-client.ts";
import {
  initializeSite,
  makeSite,
  startAgentSide,
  type AgentSide,
  type Site,
} from "../../support/server/site.ts";

let databases: TestDatabases;
let db: Database;
let site: Site;
/** Two replicas on one database. */
let sides: AgentSide[];

beforeAll(async () => {
  databases = await startTestDatabases();
  ({ db } = await databases.fresh());
  site = await makeSite(db);
  await initializeSite(db, site);
  sides = [await startAgentSide(db, site), await startAgentSide(db, site)];
});
afterAll(async () => {
  for (const side of sides) await side.close();
  await site.remove();
  await databases.stop();
});

const keyFor = (name: string, extra: object = {}) =>
  createEnrollmentKey(
    db,
    EnrollmentKeyCreate.parse({
      name,
      chain_profile_ids: ["web", "metrics"],
      node_type: "edge",
      labels: { zone: "eu-1" },
      uses_max: 3,
      ...extra,
    }),
    "key:boss",
  );

const MACHINE = "0123456789abcdef0123456789abcdef";
const enrollAs = (secret: string, { csr }: NodeKey, name: string, side = sides[0]!, more: object = {}) =>
  ask(`${side.enrollUrl}/enroll/v1/enroll`, { ca: site.ca.rootPem, json: { secret, csr, name, ...more } });

const messageOf = ({ body }: Answer): string => (body as { error: { message: string } }).error.message;
const idOf = ({ body }: Answer) => EnrollResponse.parse(body).node_id;
const who = (chain: string, key: string) =>
  ask(`${sides[0]!.agentUrl}/agent/v1/who`, { ca: site.ca.rootPem, cert: chain, key });

test("USE-7: machines enroll with one key, with its profiles, type and labels, under their host names", async () => {
  const { secret } = await keyFor("rack-1");
  const keys = await Promise.all([newNodeKey(), newNodeKey(), newNodeKey("Ed25519")]);
  const answers = await Promise.all(
    keys.map((key, at) => enrollAs(secret, key, `rack-1-${at}`, sides[at % 2])),
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  for (const [at, answer] of answers.entries()) {
    const { node_id, certificate_chain } = EnrollResponse.parse(answer.body);
    expect(await getNode(db, node_id)).toMatchObject({
      name: `rack-1-${at}`,
      node_type: "edge",
      labels: { zone: "eu-1" },
      enrolled: true,
      pending: null,
      profiles: [{ chain_profile_id: "metrics" }, { chain_profile_id: "web" }],
    });
    expect(await who(certificate_chain, keys[at]!.pem)).toMatchObject({ status: 200, body: { node_id } });
  }
});

test("USE-7: a key that was used as often as it allows is refused, also by two replicas at once", async () => {
  const { secret, enrollment_key } = await keyFor("few", { uses_max: 5 });
  const keys = await Promise.all(Array.from({ length: 20 }, () => newNodeKey()));
  const answers = await Promise.all(keys.map((key, at) => enrollAs(secret, key, `few-${at}`, sides[at % 2])));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
  const refused = answers.filter(({ status }) => status !== 200);
  expect(new Set(refused.map(codeOf))).toEqual(new Set(["ENROLLMENT_REFUSED"]));
  expect(new Set(refused.map(messageOf))).toEqual(
    new Set(["enrollment key few was used 5 times and allows no more"]),
  );
  const { enrollment_keys } = await listEnrollmentKeys(db, { limit: 100 });
  expect(enrollment_keys.find(({ id }) => id === enrollment_key.id)).toMatchObject({
    uses: 5,
    ended: "used_up",
  });
});

test("USE-7: after a lost answer the same machine is the same node, and counts once", async () => {
  const { secret } = await keyFor("again", { uses_max: 1 });
  const key = await newNodeKey();
  const first = await enrollAs(secret, key, "again-1");
  const [second, third] = await Promise.all([1, 2].map(() => enrollAs(secret, key, "again-1")));
  expect([second!.body, third!.body]).toEqual([first.body, first.body]);
  expect(await db`select 1 from node_certificates where node_id = ${idOf(first)}`).toHaveLength(1);
});

test("USE-7: the name of a live node is refused, counts no use, and the refusal says what to do", async () => {
  const { secret } = await keyFor("clash", { uses_max: 2 });
  expect((await enrollAs(secret, await newNodeKey(), "same")).status).toBe(200);
  const taken = await enrollAs(secret, await newNodeKey(), "same");
  expect([codeOf(taken), messageOf(taken)]).toEqual([
    "ENROLLMENT_REFUSED",
    expect.stringContaining("there is a node same already"),
  ]);
  expect((await enrollAs(secret, await newNodeKey(), "other")).status).toBe(200);
});

test("USE-7: of machines with one name at once, one enrolls", async () => {
  const { secret } = await keyFor("twins", { uses_max: 10 });
  const keys = await Promise.all(Array.from({ length: 6 }, () => newNodeKey()));
  const answers = await Promise.all(keys.map((key, at) => enrollAs(secret, key, "twin", sides[at % 2])));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
});

test("USE-7: a template names nodes by host name and machine id, and needs what it names", async () => {
  const { secret } = await keyFor("template", { name_template: "{hostname}-{machine}" });
  const named = await enrollAs(secret, await newNodeKey(), "debian", sides[0], { machine_id: MACHINE });
  expect((await getNode(db, idOf(named))).name).toBe("debian-0123456789ab");
  const nameless = await enrollAs(secret, await newNodeKey(), "debian");
  expect([codeOf(nameless), messageOf(nameless)]).toEqual([
    "ENROLLMENT_REFUSED",
    expect.stringContaining("without a machine id"),
  ]);
});

test.each(["", "-rf", "a b", "../x", "a\u001b[2J", "x".repeat(253)])(
  "USE-7: a machine whose host name is %j is refused, for the template makes no node name of it",
  async (hostname) => {
    const { secret } = await keyFor(`bad-${Buffer.from(hostname).toString("hex").slice(0, 20)}`, {
      name_template: "{hostname}.1",
    });
    const answer = await enrollAs(secret, await newNodeKey(), hostname);
    expect(codeOf(answer)).toBe("ENROLLMENT_REFUSED");
  },
);

test("USE-7: an expired and a revoked key are refused, and nodes that enrolled with them stay", async () => {
  const { secret, enrollment_key } = await keyFor("ending");
  const key = await newNodeKey();
  const { certificate_chain } = EnrollResponse.parse((await enrollAs(secret, key, "ending-1")).body);
  await db`update enrollment_keys set expires_at = now() where id = ${enrollment_key.id}`;
  const expired = await enrollAs(secret, await newNodeKey(), "ending-2");
  expect([codeOf(expired), messageOf(expired)]).toEqual([
    "ENROLLMENT_REFUSED",
    expect.stringMatching(/^enrollment key ending expired at /),
  ]);
  await db`update enrollment_keys set expires_at = now() + interval '1 hour' where id = ${enrollment_key.id}`;
  await revokeEnrollmentKey(db, enrollment_key.id, { reason: "rack is full" }, "key:boss");
  const revoked = await enrollAs(secret, await newNodeKey(), "ending-3");
  expect(messageOf(revoked)).toBe("enrollment key ending was revoked");
  expect((await who(certificate_chain, key.pem)).status).toBe(200);
  expect((await enrollAs(secret, key, "ending-1")).status).toBe(200);
});

test("USE-7: a revoked node's machine does not come back with the key it enrolled with", async () => {
  const { secret } = await keyFor("banned");
  const key = await newNodeKey();
  await revokeNode(db, idOf(await enrollAs(secret, key, "banned-1")), "test", null);
  const again = await enrollAs(secret, key, "banned-1");
  expect([codeOf(again), messageOf(again)]).toEqual(["ENROLLMENT_REFUSED", "node banned-1 was revoked"]);
});

test("SNAP-20: a machine rebuilt under the name of a revoked node is a new node that replaces it", async () => {
  const { secret } = await keyFor("rebuilt");
  const first = idOf(await enrollAs(secret, await newNodeKey(), "rebuilt-1"));
  await revokeNode(db, first, "test", null);
  const second = idOf(await enrollAs(secret, await newNodeKey(), "rebuilt-1"));
  expect(await getNode(db, second)).toMatchObject({ replaces: first, revoked_at: null });
});

test("USE-7: an invitation's name is not taken by a machine with an enrollment key", async () => {
  const invitation = EnrollmentTokenRequest.parse({
    name: "vip",
    chain_profile_ids: ["web"],
    node_type: "edge",
  });
  await createEnrollmentToken(db, invitation, "key:boss");
  const { secret } = await keyFor("crowd");
  expect(codeOf(await enrollAs(secret, await newNodeKey(), "vip"))).toBe("ENROLLMENT_REFUSED");
});

describe("with approval", () => {
  const enrollPending = async (name: string, key: NodeKey) => {
    const { secret } = await keyFor(`approved-${name}`, { needs_approval: true });
    const answer = await enrollAs(secret, key, name);
    expect(answer.status).toBe(202);
    return { secret, nodeId: EnrollPending.parse(answer.body).pending.node_id };
  };

  test("USE-7: a machine waits without a certificate until it is approved, and then gets one", async () => {
    const key = await newNodeKey();
    const { secret, nodeId } = await enrollPending("wait-1", key);
    expect(await getNode(db, nodeId)).toMatchObject({
      enrolled: false,
      pending: { host: "wait-1", enrollment_key: "approved-wait-1" },
    });
    expect((await enrollAs(secret, key, "wait-1")).status).toBe(202);
    expect(await db`select 1 from node_certificates where node_id = ${nodeId}`).toHaveLength(0);
    await approveNode(db, nodeId, {}, "key:boss");
    expect(idOf(await enrollAs(secret, key, "wait-1"))).toBe(nodeId);
    expect(await getNode(db, nodeId)).toMatchObject({ enrolled: true, pending: null });
    const events = await db<
      { kind: string }[]
    >`select kind from events where node_id = ${nodeId} order by id`;
    expect(events.map(({ kind }) => kind)).toEqual(["node.pending", "node.approved", "node.enrolled"]);
  });

  test("USE-7: an approval for another key than the one that waits is refused", async () => {
    const { nodeId } = await enrollPending("wait-2", await newNodeKey());
    const approval = approveNode(db, nodeId, { key_id: "0".repeat(64) }, "key:boss");
    await expect(approval).rejects.toMatchObject({ code: "STATE_MOVED" });
    expect((await getNode(db, nodeId)).pending).not.toBeNull();
  });

  test("USE-7: another machine does not take the place of one that was approved", async () => {
    const { secret, nodeId } = await enrollPending("wait-3", await newNodeKey());
    await approveNode(db, nodeId, {}, "key:boss");
    expect(codeOf(await enrollAs(secret, await newNodeKey(), "wait-3"))).toBe("ENROLLMENT_REFUSED");
  });

  test("USE-7: a machine that was revoked while it waited is refused", async () => {
    const key = await newNodeKey();
    const { secret, nodeId } = await enrollPending("wait-4", key);
    await revokeNode(db, nodeId, "test", "unknown machine");
    expect(codeOf(await enrollAs(secret, key, "wait-4"))).toBe("ENROLLMENT_REFUSED");
    await expect(approveNode(db, nodeId, {}, "key:boss")).rejects.toMatchObject({ code: "NODE_REVOKED" });
  });

  test("USE-7: a node that does not wait cannot be approved", async () => {
    const invitation = EnrollmentTokenRequest.parse({
      name: "calm",
      chain_profile_ids: ["web"],
      node_type: "edge",
    });
    const { node_id } = await createEnrollmentToken(db, invitation, "key:boss");
    await expect(approveNode(db, node_id, {}, "key:boss")).rejects.toMatchObject({
      code: "ILLEGAL_TRANSITION",
    });
  });
});

test("USE-7: of two live keys no two share a name, and a revoked key's name is free again", async () => {
  const { enrollment_key } = await keyFor("named");
  await expect(keyFor("named")).rejects.toMatchObject({ code: "INVALID_INPUT" });
  await revokeEnrollmentKey(db, enrollment_key.id, {}, "key:boss");
  await keyFor("named");
});

test("USE-7: the secret of an enrollment key is in no row and no event", async () => {
  const { secret } = await keyFor("secret");
  const rows = [await db`select * from enrollment_keys`, await db`select * from events`];
  expect(JSON.stringify(rows)).not.toContain(secret);
});

test("USE-7: enrollment keys are listed newest first, page by page", async () => {
  const all = (await listEnrollmentKeys(db, { limit: 100 })).enrollment_keys.map(({ name }) => name);
  const first = await listEnrollmentKeys(db, { limit: 2 });
  const second = await listEnrollmentKeys(db, { limit: 100, cursor: first.next_cursor! });
  expect([...first.enrollment_keys, ...second.enrollment_keys].map(({ name }) => name)).toEqual(all);
  expect(second.next_cursor).toBeNull();
});
