import { expect, test } from "vitest";
import type { NodeView } from "../../../src/core/protocol/operator-api.ts";
import { nodeSample } from "./samples.ts";
import { fairlead, homeFor, serve, TOKEN_ANSWER } from "./support.ts";

const HEARD = "2026-01-01T00:00:00.000Z";
const now = () => Date.parse(HEARD) + 190_000;

const nodeWith = (n: number, health: "ok" | "unknown", more: Partial<NodeView> = {}) =>
  nodeSample(n, {
    programs: [
      {
        chain_profile_id: "demo-http",
        application_health: health,
        sync_status: health === "ok" ? "synced" : "unknown",
        running_fingerprint: null,
        installed_fingerprint: null,
        version: "1.0.0",
        instance_id: null,
        started_at: null,
        restarts: 0,
        as_of: HEARD,
        last_reported: { application_health: "ok", sync_status: "synced" },
      },
    ],
    ...more,
  });

const siteWith = (nodes: readonly NodeView[]) =>
  serve(({ url: { pathname } }) => {
    if (pathname === "/api/v1/auth/token") return TOKEN_ANSWER;
    return { json: { nodes, next_cursor: null } };
  });

test("ROLL-30: `node list` shows a silent node as unknown with the age of its report, and counts it so", async () => {
  const silent = nodeWith(2, "unknown", { state: "down", contact: "lost" });
  const { url } = await siteWith([nodeWith(1, "ok"), silent]);
  const ran = await fairlead(["node", "list"], { env: await homeFor(url), now });
  const [, first, second] = ran.out.split("\n");
  expect(first).toMatch(/active .* ok +3m 10s ago/);
  expect(second).toMatch(/down .* unknown, 3m 10s old +3m 10s ago/);
  expect(ran.err).toBe("healthy 1 of 2, 1 unknown\n");
});

test("ROLL-30: `node list` counts revoked and replaced nodes neither as well nor as unknown", async () => {
  const revoked = { contact: "lost", revoked_at: HEARD } as const;
  const replaced = nodeWith(2, "unknown", { ...revoked, replaced_by: nodeSample(1).id });
  const { url } = await siteWith([nodeWith(1, "ok"), replaced, nodeWith(3, "unknown", revoked)]);
  const ran = await fairlead(["node", "list"], { env: await homeFor(url), now });
  expect(ran.out).toMatch(/node-2 .*replaced/);
  expect(ran.err).toBe("healthy 1 of 1; 2 revoked or replaced\n");
});

test("ROLL-30: `node show` says what a silent node last reported and when, and claims nothing of now", async () => {
  const { url } = await siteWith([nodeWith(2, "unknown", { state: "down", contact: "lost" })]);
  const ran = await fairlead(["node", "show", "node-2"], { env: await homeFor(url), now });
  expect(ran.out).toMatch(/health +unknown, 3m 10s old: it was ok, synced/);
  expect(ran.out).toMatch(/profile +demo-http, version \S+, active when last heard from/);
  expect(ran.out).toMatch(/as of +2026-01-01T00:00:00.000Z, 3m 10s ago/);
});

test.each([
  ["node", "no node matches --profile web --version 9", ["--profile", "web", "--version", "9"]],
  ["rollout", "no rollout matches --status failed", ["--status", "failed"]],
  ["group", "no group matches --profile web", ["--profile", "web"]],
  ["incident", "no incident matches --category upgrade_failed", ["--category", "upgrade_failed"]],
  ["manifest", "no manifest matches --profile web", ["--profile", "web"]],
])(
  "`%s list` with a filter that matches nothing says %s, not that the site is empty",
  async (what, said, filter) => {
    const { url } = await serve(({ url: { pathname } }) => {
      if (pathname === "/api/v1/auth/token") return TOKEN_ANSWER;
      const key = pathname.endsWith("rollout-groups") ? "groups" : pathname.split("/").at(-1)!;
      return { json: { [key]: [], next_cursor: null } };
    });
    const env = await homeFor(url);
    const filtered = await fairlead([what, "list", ...filter], { env });
    expect([filtered.out, filtered.err]).toEqual([
      "",
      `${said}: leave the filter out to see every ${what}\n`,
    ]);
    const whole = await fairlead([what, "list"], { env });
    expect(whole.err).toMatch(new RegExp(`^no ${what}(:|\\n)`));
  },
);
