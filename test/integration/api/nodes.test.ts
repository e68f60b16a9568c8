// Nodes through the operators' API.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NodeList, NodeView } from "../../../src/core/protocol/operator-api.ts";
import { errorOf, startAdminSite, type AdminSite } from "../../support/server/operators-site.ts";
import { insertNode } from "../../support/server/health-rows.ts";
import { newId } from "../../support/server/site.ts";

let here: AdminSite;
let call: AdminSite["call"];
let admin: string;

beforeAll(async () => {
  here = await startAdminSite();
  ({ call, admin } = here);
});
afterAll(() => here.stop());

describe("nodes", () => {
  test("nodes are listed by name in pages, filtered, and shown one by one", async () => {
    for (const name of ["c", "a", "d", "b"]) {
      const payload = {
        name: `page-${name}`,
        chain_profile_ids: [name === "d" ? "other" : "pages"],
        node_type: "edge",
      };
      expect((await call("POST", "/api/v1/enrollment-tokens", { token: admin, payload })).statusCode).toBe(
        201,
      );
    }
    const first = NodeList.parse(
      (await call("GET", "/api/v1/nodes?chain_profile_id=pages&limit=2", { token: admin })).json(),
    );
    expect(first.nodes.map(({ name }) => name)).toEqual(["page-a", "page-b"]);
    const rest = NodeList.parse(
      (
        await call("GET", `/api/v1/nodes?chain_profile_id=pages&limit=2&cursor=${first.next_cursor}`, {
          token: admin,
        })
      ).json(),
    );
    expect(rest.nodes.map(({ name }) => name)).toEqual(["page-c"]);
    expect(rest.next_cursor).toBeNull();
    const one = NodeView.parse(
      (await call("GET", `/api/v1/nodes/${first.nodes[0]!.id}`, { token: admin })).json(),
    );
    expect(one).toMatchObject({ name: "page-a", enrolled: false, programs: [] });
    expect(one.profiles).toEqual([{ chain_profile_id: "pages", state: "active", binary_version: null }]);
    expect(errorOf(await call("GET", `/api/v1/nodes/${newId()}`, { token: admin })).code).toBe("NOT_FOUND");
  });

  test("ROLL-30: a node that fell silent is answered with unknown health, its last report and that report's time", async () => {
    const id = await insertNode(here.db, "silent");
    const program = {
      chain_profile_id: "web",
      application_health: "ok",
      sync_status: "synced",
      running_fingerprint: null,
      installed_fingerprint: null,
      version: "1.0.0",
      instance_id: null,
      started_at: null,
      restarts: 0,
    };
    await here.db`
      insert into node_heartbeats (node_id, received_at, agent_version, applied, programs)
      values (${id}, clock_timestamp(), '1', '{}', ${here.db.json([program])})`;
    const read = async () =>
      NodeView.parse((await call("GET", `/api/v1/nodes/${id}`, { token: admin })).json());
    const fresh = await read();
    expect(fresh.contact).toBe("current");
    expect(fresh.programs).toMatchObject([{ ...program, as_of: fresh.last_heartbeat_at }]);

    await here.db`update node_heartbeats set received_at = now() - interval '100 seconds' where node_id = ${id}`;
    const silent = await read();
    expect(silent.contact).toBe("late");
    expect(silent.programs).toMatchObject([
      {
        application_health: "unknown",
        sync_status: "unknown",
        as_of: silent.last_heartbeat_at,
        last_reported: { application_health: "ok", sync_status: "synced" },
      },
    ]);
    await here.db`update nodes set state = 'down' where id = ${id}`;
    expect((await read()).contact).toBe("lost");
  });

  test("an enrollment token leaves an event with who made it, for which node and why, and without its secret", async () => {
    const payload = {
      name: "token-event",
      chain_profile_ids: ["web"],
      node_type: "edge",
      reason: "new rack",
    };
    const answer = await call("POST", "/api/v1/enrollment-tokens", { token: admin, payload });
    const { node_id, secret, expires_at } =
      answer.json<Record<"node_id" | "secret" | "expires_at", string>>();
    const events = await here.db<{ actor: string; data: object }[]>`
      select actor, data from events where kind = 'enrollment_token.created' and node_id = ${node_id}`;
    expect([...events]).toEqual([
      { actor: "key:boss", data: { name: "token-event", expires_at, reason: "new rack" } },
    ]);
    expect(JSON.stringify(events)).not.toContain(secret);
  });

  test("a revoked node is shown as such, with who did it and why in its event", async () => {
    const payload = { name: "to-revoke", chain_profile_ids: ["web"], node_type: "edge" };
    const { node_id } = (await call("POST", "/api/v1/enrollment-tokens", { token: admin, payload })).json<{
      node_id: string;
    }>();
    const revoke = `/api/v1/nodes/${node_id}/revoke`;
    const answer = await call("POST", revoke, { token: admin, payload: { reason: "stolen" } });
    expect(NodeView.parse(answer.json()).revoked_at).not.toBeNull();
    expect((await call("POST", revoke, { token: admin })).statusCode).toBe(200);
    const events =
      await here.db`select actor, data from events where node_id = ${node_id} and kind = 'node.revoked'`;
    expect([...events]).toEqual([{ actor: "key:boss", data: { reason: "stolen" } }]);
    expect(errorOf(await call("POST", `/api/v1/nodes/${newId()}/revoke`, { token: admin })).code).toBe(
      "NOT_FOUND",
    );
  });
});
