import { describe, expect, test } from "vitest";
import { ERROR_CODES } from "../../../src/core/error-codes.ts";
import type { NodeView, RolloutView } from "../../../src/core/protocol/operator-api.ts";
import { nodeSample, ROLLOUT_ID, rolloutSample, upgradeSample, uuid } from "./samples.ts";
import { fairlead, homeFor, refusal, serve, TOKEN_ANSWER } from "./support.ts";

const OTHER_ID = "3f2b0000-0000-4000-8000-000000000001";

async function site(nodes: readonly NodeView[], rollouts: readonly RolloutView[] = []) {
  const fixture = await serve(({ method, url: { pathname, searchParams } }) => {
    if (pathname === "/api/v1/auth/token") return TOKEN_ANSWER;
    const [, id, verb] = /^\/api\/v1\/(?:nodes|rollouts)\/([^/]+)(?:\/(\w+))?$/.exec(pathname) ?? [];
    const found = [...nodes, ...rollouts].find((item) => item.id === id);
    if (pathname === "/api/v1/nodes") return paged("nodes", nodes, searchParams);
    if (pathname === "/api/v1/rollouts") return paged("rollouts", rollouts, searchParams);
    if (verb === "nodes") return paged("nodes", [upgradeSample(1)], searchParams);
    if (found === undefined) return refusal(404, "NOT_FOUND", "no such thing");
    return method === "POST" ? { status: 202, json: found } : { json: found };
  });
  return { ...fixture, env: await homeFor(fixture.url) };
}

/** One item a page, to see that every page is read. */
function paged(name: string, items: readonly unknown[], query: URLSearchParams) {
  const at = Number(query.get("cursor") ?? 0);
  return {
    json: { [name]: items.slice(at, at + 1), next_cursor: at + 1 < items.length ? String(at + 1) : null },
  };
}

describe("naming nodes and rollouts (USE-2)", () => {
  const nodes = [nodeSample(1), nodeSample(2), nodeSample(0xaaaa_0001), nodeSample(0xaaaa_0002)];

  test.each([["node-2"], [uuid(2)], ["00000002"]])(
    "a node is found by name, id or the beginning of its id: %s",
    async (text) => {
      const { env } = await site(nodes);
      expect((await fairlead(["node", "show", text, "--json"], { env })).json()).toMatchObject({
        id: uuid(2),
      });
    },
  );

  test("a beginning that fits several is told with the candidates", async () => {
    const { env } = await site(nodes);
    const ran = await fairlead(["node", "show", "aaaa"], { env });
    expect(ran.code).toBe(3);
    expect(ran.err).toContain(`"aaaa" could be 2 nodes: node-2863267841 (${uuid(0xaaaa_0001)})`);
  });

  test("what is too short, or names nothing, is not found", async () => {
    const { env } = await site(nodes);
    expect((await fairlead(["node", "show", "aaa"], { env })).code).toBe(5);
    expect((await fairlead(["node", "show", uuid(99)], { env })).code).toBe(5);
  });

  test("a revoked node does not stand in the way of its successor with the same name", async () => {
    const old = nodeSample(7, { name: "val", revoked_at: "2026-01-01T00:00:00.000Z" });
    const { env } = await site([old, nodeSample(8, { name: "val" })]);
    expect((await fairlead(["node", "show", "val", "--json"], { env })).json()).toMatchObject({
      id: uuid(8),
    });
  });

  test("SNAP-20: of two revoked nodes with one name, the one that was not replaced is meant", async () => {
    const revoked_at = "2026-01-01T00:00:00.000Z";
    const first = nodeSample(7, { name: "val", revoked_at, replaced_by: uuid(8) });
    const { env } = await site([first, nodeSample(8, { name: "val", revoked_at, replaces: uuid(7) })]);
    const ran = await fairlead(["node", "show", "val"], { env });
    expect(ran.out).toMatch(/state +revoked\n/);
    expect(ran.out).toContain(`${uuid(7)} (revoked)`);
    const old = await fairlead(["node", "show", uuid(7)], { env });
    expect(old.out).toMatch(/state +replaced\n/);
    expect(old.out).toMatch(new RegExp(`replaced by +${uuid(8)}`));
  });

  test("a rollout is found by 4 or more of its id, never by fewer", async () => {
    const { env } = await site([], [rolloutSample(), rolloutSample({ id: OTHER_ID })]);
    expect((await fairlead(["rollout", "show", "3f2a", "--json"], { env })).json()).toMatchObject({
      id: ROLLOUT_ID,
    });
    const short = await fairlead(["rollout", "show", "3f2"], { env });
    expect(short.code).toBe(3);
    expect(short.err).toContain("4 or more");
    expect((await fairlead(["rollout", "show", "ffff"], { env })).code).toBe(5);
    const same = await site(
      [],
      [rolloutSample(), rolloutSample({ id: "3f2a0000-0000-4000-8000-000000000002" })],
    );
    expect((await fairlead(["rollout", "show", "3f2a"], { env: same.env })).err).toContain(
      "could be 2 rollouts",
    );
  });

  test.each(["start", "pause", "resume", "cancel"])(
    "rollout %s goes to the resolved id with its reason",
    async (verb) => {
      const carried = { pause_requested: true, cancel_requested: true };
      const { env, asked } = await site([], [rolloutSample(carried)]);
      const ran = await fairlead(["rollout", verb, "3f2a", "--reason", "because"], { env });
      expect(ran.code).toBe(0);
      expect(asked.at(-1)).toMatchObject({ method: "POST", body: { reason: "because" } });
      expect(asked.at(-1)!.url.pathname).toBe(`/api/v1/rollouts/${ROLLOUT_ID}/${verb}`);
    },
  );

  test("node revoke goes to the resolved id with its reason", async () => {
    const { env, asked } = await site(nodes);
    expect((await fairlead(["node", "revoke", "node-1", "--reason", "stolen"], { env })).code).toBe(0);
    expect(asked.at(-1)).toMatchObject({ method: "POST", body: { reason: "stolen" } });
    expect(asked.at(-1)!.url.pathname).toBe(`/api/v1/nodes/${uuid(1)}/revoke`);
  });
});

describe("what is shown of nodes and rollouts (USE-2, USE-4)", () => {
  test("node show tells what the node last refused, why, and what to do", async () => {
    const rejection = {
      code: "COMMAND_REPLAYED",
      subject: "command 7",
      reason: "sequence 3 ≤ 5",
      at: "2026-01-01T00:00:00.000Z",
    };
    const { env } = await site([nodeSample(1, { last_rejection: rejection })]);
    const text = (await fairlead(["node", "show", "node-1"], { env })).out;
    expect(text).toMatch(/code +COMMAND_REPLAYED/);
    expect(text).toMatch(/reason +sequence 3 ≤ 5/);
    expect(text).toContain(ERROR_CODES.COMMAND_REPLAYED.next);
    expect(text).toContain("trust_bundle 1 (epoch 1)");
    expect((await fairlead(["node", "show", "node-1", "--json"], { env })).json()).toMatchObject({
      last_rejection: { ...rejection, next: ERROR_CODES.COMMAND_REPLAYED.next },
    });
  });

  test("node show names the machines that share a copied key, and says what to do", async () => {
    const machine = (n: number, host: string) => ({
      id: uuid(n),
      host,
      address: `10.0.0.${n}`,
      started_at: "2026-01-01T00:00:00.000Z",
      heard_at: null,
    });
    const copies = [machine(1, "rack-1"), machine(2, "rack-2")];
    const { env } = await site([nodeSample(1, { copies }), nodeSample(2)]);
    const text = (await fairlead(["node", "show", "node-1"], { env })).out;
    expect(text).toContain("COPIED KEY");
    expect(text).toContain("rack-1 at 10.0.0.1");
    expect(text).toContain("rack-2 at 10.0.0.2");
    expect(text).toContain("enroll each machine with a token of its own");
    expect((await fairlead(["node", "show", "node-2"], { env })).out).not.toContain("COPIED KEY");
  });

  test("lists read every page, as a table and as JSON", async () => {
    const { env } = await site(
      [1, 2, 3].map((n) => nodeSample(n)),
      [rolloutSample(), rolloutSample({ id: OTHER_ID })],
    );
    expect((await fairlead(["node", "list"], { env })).out.trimEnd().split("\n")).toHaveLength(4);
    expect((await fairlead(["node", "list", "--json"], { env })).json()).toMatchObject({
      nodes: { length: 3 },
    });
    expect((await fairlead(["rollout", "list", "--limit", "1", "--json"], { env })).json()).toMatchObject({
      rollouts: { length: 1 },
    });
    expect((await fairlead(["rollout", "list"], { env })).out).toContain("1.0.0 → 2.0.0");
    expect((await fairlead(["rollout", "nodes", "3f2a"], { env })).out).toContain("node-1");
    expect((await fairlead(["rollout", "show", "3f2a"], { env })).out).toMatch(
      /why +UPGRADING: batch 1 of 3/,
    );
  });

  test("filters go to the server under their wire names", async () => {
    const { env, asked } = await site([nodeSample(1)], [rolloutSample()]);
    await fairlead(["node", "list", "--profile", "p", "--type", "t", "--version", "1.0.0"], { env });
    const query = () => Object.fromEntries(asked.at(-1)!.url.searchParams);
    expect(query()).toEqual({ limit: "500", chain_profile_id: "p", node_type: "t", binary_version: "1.0.0" });
    await fairlead(["rollout", "list", "--status", "paused", "--profile", "p"], { env });
    expect(query()).toEqual({ limit: "50", status: "paused", chain_profile_id: "p" });
  });

  test("--json may stand before, between and after the words of a command", async () => {
    const { env } = await site([nodeSample(1)]);
    for (const argv of [
      ["--json", "node", "list"],
      ["node", "--json", "list"],
      ["node", "list", "--json"],
    ])
      expect((await fairlead(argv, { env })).json()).toMatchObject({ nodes: [{ name: "node-1" }] });
  });

  test("an empty list prints nothing on stdout and a hint on stderr", async () => {
    const { env } = await site([]);
    const ran = await fairlead(["node", "list"], { env });
    expect(ran).toMatchObject({ code: 0, out: "" });
    expect(ran.err).toContain("no node");
  });
});
