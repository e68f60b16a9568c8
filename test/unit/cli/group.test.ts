import { describe, expect, test } from "vitest";
import { plainPaint } from "../../../src/cli/output.ts";
import { groupLines } from "../../../src/cli/watch/group-line.ts";
import { renderGroup, type SeenGroup } from "../../../src/cli/watch/group-picture.ts";
import type { GroupView } from "../../../src/core/protocol/group-api.ts";
import { componentSample, GROUP_ID, groupSample } from "./steer-samples.ts";
import { fairlead, homeFor, serve, TOKEN_ANSWER } from "./support.ts";

const NOW = Date.parse("2026-01-01T00:01:05.000Z");

/** A site whose group moves on with each reading. */
async function site(...readings: GroupView[]) {
  let read = -1;
  const fixture = await serve(({ method, url: { pathname } }) => {
    if (pathname === "/api/v1/auth/token") return TOKEN_ANSWER;
    if (pathname === "/api/v1/rollout-groups") return { json: { groups: readings, next_cursor: null } };
    if (pathname.endsWith("/nodes")) return { json: { nodes: [], next_cursor: null } };
    if (method === "GET") read = Math.min(read + 1, readings.length - 1);
    return { json: readings[Math.max(read, 0)] };
  });
  const env = await homeFor(fixture.url);
  return {
    asked: fixture.asked,
    run: (...words: string[]) => fairlead(["group", ...words], { env }),
    onTerminal: (...words: string[]) => fairlead(["group", ...words], { env, tty: true }),
  };
}

describe("groups on the command line (ROLL-11, ROLL-13)", () => {
  test.each(["start", "pause", "resume", "cancel", "rollback", "skip"])(
    "ROLL-11: `group %s` is one POST with a reason and a key",
    async (verb) => {
      const { run, asked } = await site(groupSample());
      expect(await run(verb, GROUP_ID, "--reason", "because")).toMatchObject({ code: 0, err: "" });
      const post = asked.find(({ url }) => url.pathname.endsWith(`/${verb}`));
      expect(post).toMatchObject({ method: "POST", body: { reason: "because" } });
      expect(post!.headers["idempotency-key"]).toMatch(/^[0-9a-f-]{36}$/);
    },
  );

  test("list and show tell policy, components in order and how far each is", async () => {
    const { run } = await site(groupSample());
    expect((await run("list")).out).toMatch(/9a2b0000 +validator +rollback_all +running +1\/3 completed/);
    const shown = (await run("show", GROUP_ID.slice(0, 4))).out;
    expect(shown).toMatch(/1 +consensus .* completed[^]*2 +execution .* running[^]*3 +proxy .* pending/);
  });

  test.each([
    ["completed", 0],
    ["partial", 1],
    ["failed", 1],
    ["cancelled", 1],
    ["rolled_back", 1],
  ])("ROLL-13: a group that ends %s is exit code %i of wait", async (status, exit) => {
    const { run } = await site(groupSample(), groupSample({ status }));
    expect(await run("wait", GROUP_ID)).toMatchObject({ code: exit });
  });

  test("wait --for paused ends with 9 at a pause, --for done goes through it, and a timeout is 10", async () => {
    const paused = groupSample({ status: "paused", why: { code: "COMPONENT_FAILED", text: "execution" } });
    expect((await (await site(paused)).run("wait", GROUP_ID, "--for", "paused")).code).toBe(9);
    const through = await site(paused, groupSample({ status: "completed" }));
    expect((await through.run("wait", GROUP_ID)).code).toBe(0);
    const ran = await (await site(paused)).run("wait", GROUP_ID, "--timeout", "100ms", "--json");
    expect(ran.code).toBe(10);
    expect(ran.json()).toMatchObject({ error: { code: "TIMEOUT", detail: { status: "paused" } } });
  });

  test("watch draws on a terminal, tells changes elsewhere, and ends with the group", async () => {
    const end = groupSample({ status: "completed" });
    const drawn = await (await site(groupSample(), end)).onTerminal("watch", GROUP_ID);
    expect(drawn).toMatchObject({ code: 0, out: "", err: "" });
    expect(drawn.drawn[0]).toContain("running");
    expect(drawn.drawn.at(-1)).toContain("completed");
    const plain = await (await site(groupSample(), end)).run("watch", GROUP_ID);
    expect(plain.out).toMatch(/Z group running\n/);
    expect(plain.out.trimEnd()).toMatch(new RegExp(`group ${GROUP_ID} completed$`));
  });
});

describe("the live picture of a group", () => {
  const picture = (group: GroupView, more: Partial<SeenGroup> = {}) =>
    renderGroup({ group, at: null, lost: null, ...more }, NOW, plainPaint, 100).split("\n");

  test("has a line per component, and the gate under the one that it follows", () => {
    const gate = groupSample({ current_component: 0, gate_until: "2026-01-01T00:01:17.000Z" });
    expect(picture(gate)).toEqual([
      "group 9a2b0000  validator  rollback_all  running  1m 05s",
      "  ✔ 1 consensus  1.0.0 → 2.0.0  completed  0/5 nodes",
      "    gate: health is watched for another 12s",
      "  ▶ 2 execution  1.0.0 → 2.0.0  running  batch 1 of 3  0/5 nodes",
      "  · 3 proxy  1.0.0 → 2.0.0  pending  0/5 nodes",
    ]);
  });

  test("ROLL-12: a canary that waits inside a component names the command that approves it", () => {
    const why = { code: "CANARY_APPROVAL", text: "the canary is healthy" };
    const waits = groupSample({ components: [componentSample(0, "consensus", { status: "paused", why })] });
    expect(picture(waits).at(-1)).toBe('next: fairlead rollout approve-canary 000000c0 --reason "…"');
  });

  test.each([
    ["paused", "INTENT_EXPIRED", "resume 000000c0 --manifest FILE"],
    ["paused", "UNAVAILABLE_LIMIT", "resume 000000c0"],
    ["rolling_back", "INTENT_EXPIRED", "rollback 000000c0 --manifest FILE"],
  ])(
    "ROLL-11: a component that is %s with %s names its own command, not its group's",
    (status, code, next) => {
      const why = { code, text: "…" };
      const waits = groupSample({ components: [componentSample(0, "consensus", { status, why })] });
      expect(picture(waits).at(-1)).toBe(`next: fairlead rollout ${next}`);
    },
  );

  test("ROLL-11: one that was paused with its group leads to the group's resume", () => {
    const why = { code: "PAUSED", text: "…" };
    const components = [componentSample(0, "consensus", { status: "paused", why })];
    const paused = groupSample({ status: "paused", why, components });
    expect(picture(paused).at(-1)).toBe("next: fairlead group resume 9a2b0000");
  });

  test("ROLL-13: a failed component of a manual group names what may be done", () => {
    const why = { code: "COMPONENT_FAILED", text: "execution: 2 of 3 failed" };
    expect(picture(groupSample({ status: "paused", why })).slice(-2)).toEqual([
      "why: COMPONENT_FAILED: execution: 2 of 3 failed",
      "next: fairlead group resume 9a2b0000; or skip, or rollback",
    ]);
  });

  test("32 components and a lost connection still fit 24 lines", () => {
    const components = Array.from({ length: 32 }, (_, n) =>
      componentSample(n, `part-${n}`, { status: "paused" }),
    );
    const why = { code: "COMPONENT_FAILED", text: "x".repeat(500) };
    const group = groupSample({ components, current_component: 20, status: "paused", why });
    const lines = picture(group, { lost: "ECONNREFUSED" });
    expect(lines.length).toBeLessThan(24);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
    expect(lines.some((line) => line.includes("part-20"))).toBe(true);
  });

  test("two readings differ in lines that name what changed, and the same twice in none", () => {
    const before = groupSample();
    const after = groupSample({
      status: "paused",
      why: { code: "COMPONENT_FAILED", text: "t" },
      components: before.components.map((component) =>
        component.component_index === 1
          ? componentSample(1, "execution", { status: "failed", current_batch: 1 })
          : component,
      ),
    });
    expect(groupLines(before, after)).toEqual([
      "group paused  COMPONENT_FAILED: t",
      "component 2 execution failed",
      "component 2 execution batch 2 of 3",
    ]);
    expect(groupLines(after, after)).toEqual([]);
  });
});
