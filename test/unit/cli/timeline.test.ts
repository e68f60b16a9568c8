import { describe, expect, test } from "vitest";
import { eventSample, nodeSample, ROLLOUT_ID, rolloutSample, upgradeSample, uuid } from "./samples.ts";
import { fairlead, homeFor, serve, TOKEN_ANSWER } from "./support.ts";

const told = (id: number, data: Record<string, unknown>) =>
  eventSample(
    id,
    "node.upgrade",
    { status: "in_progress", phase: "PREPARING", action: null, error: null, ...data },
    1,
  );

const FAILED = [
  told(1, {}),
  told(2, { action: "backup_state" }),
  told(3, { action: "stop_node", phase: "STOPPED" }),
  told(5, {
    status: "failed",
    phase: null,
    action: "stop_node",
    error: { code: "ACTION_TIMEOUT", text: "60 s" },
  }),
];

async function site(events = FAILED) {
  const fixture = await serve(({ url: { pathname } }) => {
    if (pathname === "/api/v1/auth/token") return TOKEN_ANSWER;
    if (pathname === "/api/v1/nodes") return { json: { nodes: [nodeSample(1)], next_cursor: null } };
    if (pathname.endsWith("/events")) return { json: { events: events.toReversed(), next_cursor: null } };
    if (pathname.endsWith("/nodes")) return { json: { nodes: [upgradeSample(1)], next_cursor: null } };
    return { json: rolloutSample() };
  });
  const env = await homeFor(fixture.url);
  return { asked: fixture.asked, run: (...words: string[]) => fairlead(words, { env }) };
}

describe("what happened to a node and why (ROLL-7, USE-2)", () => {
  test("ROLL-7: `rollout timeline` tells the eight actions, the reason and what to do", async () => {
    const { run, asked } = await site();
    const { code, out } = await run("rollout", "timeline", ROLLOUT_ID, "node-1");
    expect(code).toBe(0);
    const lines = out.split("\n");
    expect(lines[0]).toBe("upgrade in rollout 3f2a0000, began 2026-01-01T00:00:01.000Z, 4s: failed");
    expect(lines.slice(2, 10).map((line) => line.trim().split(/\s+/).slice(0, 4).join(" "))).toEqual([
      "✔ backup_state 00:00:02.000 1s",
      "✔ acquire_artifact no news",
      "✔ verify_artifact no news",
      "✗ stop_node 00:00:03.000 2s",
      "· install_artifact - -",
      "· write_configs - -",
      "· reload_daemon - -",
      "· start_node - -",
    ]);
    expect(lines.slice(10, 12)).toEqual([
      "  why: ACTION_TIMEOUT: 60 s",
      "  what to do: The action took too long: see the node's log.",
    ]);
    const { searchParams } = asked.at(-1)!.url;
    expect(searchParams.get("rollout_id")).toBe(ROLLOUT_ID);
  });

  test("ROLL-7: `node timeline` has the newest attempts, and with --json the same as data", async () => {
    const { run, asked } = await site([...FAILED, told(6, {})]);
    const ran = await run("node", "timeline", "node-1", "--limit", "1", "--json");
    expect(ran.json()).toMatchObject({ node_id: uuid(1), attempts: [{ status: "in_progress", id: 6 }] });
    expect(asked.at(-1)!.url.pathname).toBe(`/api/v1/nodes/${uuid(1)}/events`);
  });

  test("a node that nothing happened to says so, and one that is no part of the rollout is not found", async () => {
    const { run } = await site([]);
    expect((await run("node", "timeline", "node-1")).err).toContain("never part of an upgrade");
    expect((await run("rollout", "timeline", ROLLOUT_ID, "node-9")).code).toBe(5);
  });
});
