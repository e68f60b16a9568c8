// What operators take back from nodes, through their API on a real database.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { REQUESTED_REVOCATIONS_MAX } from "../../../src/core/snapshot/revocation.ts";
import { createRevokedReader } from "../../../src/server/agents/revoked.ts";
import { administrator, type Ask } from "../../support/server/operators-client.ts";
import { startOperatorsSite, type OperatorsSite } from "../../support/server/operators-site.ts";
import { enrolledNode, newId } from "../../support/server/site.ts";

let here: OperatorsSite;
let ask: Ask;
let edge: string;

beforeAll(async () => {
  here = await startOperatorsSite();
  ask = await administrator(here.app, here.db);
  edge = (await enrolledNode(here.db, here.site, "edge-1")).nodeId;
  await ask("PUT", `/nodes/${edge}/membership`, { roles: ["egress_service"] });
});
afterAll(() => here.stop());

const events = async (kind: string) => {
  const rows = await here.db<{ actor: string; data: Record<string, unknown> }[]>`
    select actor, data from events where kind = ${kind} order by id`;
  return rows.map(({ actor, data }) => ({ actor, data }));
};

describe("revocations (SNAP-10)", () => {
  test.each([
    ["role_assignment", "thin"],
    ["service_assignment", "web"],
    ["degraded_permission", "continue_services"],
  ])("SNAP-10: a %s is taken back once, listed with who and why, and lifted", async (kind, subject) => {
    const wish = { kind, subject, node_id: edge, reason: "moved" };
    const made = await ask("POST", "/revocations", wish);
    expect(made).toMatchObject({ status: 201, body: { ...wish, node_name: "edge-1", actor: "key:boss" } });
    expect(await ask("POST", "/revocations", wish)).toMatchObject({ status: 200, body: made.body as object });
    const { seq } = made.body as { seq: number };
    const { revocations } = (await ask("GET", `/revocations?kind=${kind}`)).body as { revocations: object[] };
    expect(revocations).toEqual([made.body]);
    const elsewhere = (await ask("GET", `/revocations?node_id=${newId()}`)).body;
    expect(elsewhere).toMatchObject({ revocations: [] });
    expect((await ask("DELETE", `/revocations/${seq}`)).status).toBe(204);
    expect((await ask("DELETE", `/revocations/${seq}`)).code).toBe("NOT_FOUND");
    expect((await events("authority.restored")).at(-1)).toEqual({
      actor: "key:boss",
      data: { kind, subject },
    });
  });

  test("SNAP-10: peers and storage endpoints are named by id, must exist, and are shown by name", async () => {
    const { id } = (await ask("PUT", "/model/storage-endpoints/s1", { url: "https://s1.example" })).body as {
      id: string;
    };
    const endpoint = await ask("POST", "/revocations", { kind: "storage_endpoint", subject: id });
    expect(endpoint.body).toMatchObject({ subject: id, subject_name: "s1", node_id: null });
    expect((await ask("POST", "/revocations", { kind: "peer", subject: edge })).body).toMatchObject({
      subject_name: "edge-1",
    });
    for (const kind of ["peer", "storage_endpoint"])
      expect((await ask("POST", "/revocations", { kind, subject: newId() })).message).toMatch(
        /^body\.subject: there is no /,
      );
    expect((await ask("POST", "/revocations", { kind: "peer", subject: "edge-1" })).code).toBe(
      "INVALID_INPUT",
    );
  });

  test("SNAP-10: keys and node identities are not taken back here, and a revoked node stays revoked", async () => {
    for (const kind of ["signing_key", "node_identity"])
      expect((await ask("POST", "/revocations", { kind, subject: "x" })).code).toBe("INVALID_INPUT");
    const { nodeId } = await enrolledNode(here.db, here.site, "edge-gone");
    await ask("POST", `/nodes/${nodeId}/revoke`, { reason: "stolen" });
    const { revocations } = (await ask("GET", "/revocations?kind=node_identity")).body as {
      revocations: { seq: number }[];
    };
    expect(revocations).toMatchObject([
      { subject: nodeId, subject_name: "edge-gone", node_id: null, reason: "stolen" },
    ]);
    expect((await ask("DELETE", `/revocations/${revocations[0]!.seq}`)).code).toBe("ILLEGAL_TRANSITION");
    expect((await ask("PUT", `/nodes/${nodeId}/membership`, {})).code).toBe("NODE_REVOKED");
  });

  test("SNAP-10: a set of revocations near its limit takes no further request, and a node is still revoked", async () => {
    const { nodeId } = await enrolledNode(here.db, here.site, "edge-full");
    const fill = async (of: string | null) => {
      await here.db`alter table authority_revocations disable trigger user`; // they wake every node for each row
      await here.db`
        insert into authority_revocations (kind, subject, node_id, actor)
        select 'peer', 'peer-' || n, ${of}, 'key:boss' from generate_series(1, ${REQUESTED_REVOCATIONS_MAX - 1}) as n`;
      await here.db`alter table authority_revocations enable trigger user`;
    };
    const revoke = async (subject: string, of: string | null) =>
      ask("POST", "/revocations", { kind: "service_assignment", subject, node_id: of });
    await fill(nodeId);
    expect((await revoke("last", nodeId)).status).toBe(201);
    const beyond = await revoke("beyond", nodeId);
    expect([beyond.status, beyond.code]).toEqual([409, "REVOCATIONS_FULL"]);
    expect((await revoke("last", nodeId)).status).toBe(200);
    expect((await revoke("beyond", edge)).status).toBe(201);
    expect((await ask("GET", `/revocations?kind=service_assignment&node_id=${nodeId}`)).body).toMatchObject({
      revocations: [{ subject: "last" }],
    });

    await fill(null);
    await revoke("last", null);
    expect((await revoke("beyond", null)).code).toBe("REVOCATIONS_FULL");
    expect((await ask("POST", `/nodes/${nodeId}/revoke`, { reason: "stolen" })).status).toBeLessThan(300);
    const { rest } = (await createRevokedReader(here.db).read([nodeId])).paged(nodeId);
    expect(rest).toContainEqual({ kind: "node_identity", id: nodeId });
  }, 60_000);
});
