import { describe, expect, test } from "vitest";
import { openApi } from "../../../src/cli/api.ts";
import { followRollout } from "../../../src/cli/events/follow.ts";
import type { EventView } from "../../../src/core/protocol/operator-api.ts";
import { eventSample, eventText, ROLLOUT_ID, rolloutSample, upgradeSample } from "./samples.ts";
import { fairlead, homeFor, refusal, serve, TOKEN_ANSWER } from "./support.ts";

const batch = (id: number): EventView => eventSample(id, "rollout.batch", { batch: 0 });
const status = (id: number, from: string, to: string, why: unknown = null): EventView =>
  eventSample(id, "rollout.status", { from, to, why });
const fast = { retryFirstMs: 5, retryMostMs: 20 };

async function take(url: string, count: number): Promise<{ ids: number[]; lost: (string | null)[] }> {
  const [ids, lost]: [number[], (string | null)[]] = [[], []];
  const api = openApi(url, null);
  const { signal } = new AbortController();
  try {
    const events = followRollout(api, ROLLOUT_ID, { signal, onLost: (why) => void lost.push(why), ...fast });
    for await (const event of events) {
      ids.push(event.id);
      if (ids.length === count) break;
    }
    return { ids, lost };
  } finally {
    api.close();
  }
}

describe("following a rollout's events (USE-2)", () => {
  test("a cut connection goes on after the last event, with Last-Event-ID, and nothing comes twice", async () => {
    let connection = 0;
    const { url, asked } = await serve(() => (response) => {
      connection += 1;
      response.writeHead(200, { "content-type": "text/event-stream" });
      if (connection === 1)
        response.write(eventText(batch(1)) + eventText(batch(2)), () => response.destroy());
      else response.write(eventText(batch(2)) + eventText(batch(3)) + eventText(batch(4)));
    });
    const { ids, lost } = await take(url, 4);
    expect(ids).toEqual([1, 2, 3, 4]);
    expect(asked.map(({ headers }) => headers["last-event-id"])).toEqual(["0", "2"]);
    expect(asked[1]!.url.searchParams.get("after")).toBe("2");
    expect(lost).toEqual([null, expect.any(String), null]);
  });

  test("a server that is starting is tried again; one that refuses is not", async () => {
    let connection = 0;
    const { url } = await serve(() => {
      connection += 1;
      if (connection < 3) return refusal(503, "NOT_READY", "starting");
      return (response) => response.write(eventText(batch(1)));
    });
    expect((await take(url, 1)).ids).toEqual([1]);
    const forbidden = await serve(() => refusal(403, "FORBIDDEN", "no"));
    await expect(take(forbidden.url, 1)).rejects.toMatchObject({ code: "FORBIDDEN" });
    expect(forbidden.asked).toHaveLength(1);
  });

  test.each([
    ["no JSON", "id: 1\ndata: {\n\n"],
    ["no event", 'id: 1\ndata: {"id":"x"}\n\n'],
  ])("an event that is %s is an error and not a loop", async (_what, text) => {
    const { url, asked } = await serve(() => (response) => response.write(text));
    await expect(take(url, 1)).rejects.toThrow("is not understood");
    expect(asked).toHaveLength(1);
  });
});

/** A site whose rollout has this status now, and this history. */
async function site(now: string, history: readonly EventView[], later: readonly EventView[] = []) {
  let current = now;
  const { url } = await serve(({ url: { pathname } }) => {
    if (pathname === "/api/v1/auth/token") return TOKEN_ANSWER;
    if (pathname.endsWith("/nodes"))
      return { json: { nodes: [upgradeSample(1), upgradeSample(2)], next_cursor: null } };
    if (!pathname.endsWith("/events")) return { json: rolloutSample({ status: current, why: null }) };
    return (response) => {
      response.write(`: ping\n\n${history.map(eventText).join("")}`);
      setTimeout(() => {
        const to = later.findLast(({ kind }) => kind === "rollout.status")?.data["to"];
        if (typeof to === "string") current = to;
        response.write(later.map(eventText).join(""));
      }, 50);
    };
  });
  return homeFor(url);
}

const RUN = [status(1, "pending", "running"), batch(2)];

describe("fairlead rollout wait (USE-2)", () => {
  const wait = async (env: Record<string, string>, ...more: string[]) =>
    fairlead(["rollout", "wait", ROLLOUT_ID, "--json", ...more], { env });

  test.each([
    ["completed", 0],
    ["failed", 1],
    ["cancelled", 1],
    ["rolled_back", 1],
  ])(
    "a rollout that ends %s is exit code %i, whether it ended before or ends while we wait",
    async (end, exit) => {
      const before = await wait(await site(end, []));
      expect(before).toMatchObject({ code: exit });
      expect(before.json()).toMatchObject({ id: ROLLOUT_ID, status: end });
      expect((await wait(await site("running", RUN, [status(3, "running", end)]))).code).toBe(exit);
    },
  );

  test("--for paused ends with exit code 9 at a pause", async () => {
    const pauses = [status(3, "running", "paused")];
    expect((await wait(await site("running", RUN, pauses), "--for", "paused")).code).toBe(9);
  });

  test.each([
    ["that begins while it waits", "running", RUN],
    ["that began before", "paused", [...RUN, status(3, "running", "paused")]],
  ])(
    "--for done waits through a pause %s: the rollout is paused at every read until its end",
    async (_, now, history) => {
      const pause = status(3, "running", "paused");
      const later = now === "running" ? [pause] : [];
      const env = await site(now, history, later);
      expect((await wait(env, "--for", "done", "--timeout", "300ms")).code).toBe(10);
      const end = [...later, status(4, "paused", "running"), status(5, "running", "completed")];
      expect((await wait(await site(now, history, end), "--for", "done")).code).toBe(0);
    },
  );

  test("a pause in the past is not taken for one now", async () => {
    const past = [...RUN, status(3, "running", "paused"), status(4, "paused", "running")];
    const ran = await wait(
      await site("running", past, [status(5, "running", "completed")]),
      "--for",
      "paused",
    );
    expect(ran.code).toBe(0);
  });

  test("a timeout is exit code 10 and tells where the rollout stands", async () => {
    const ran = await wait(await site("running", RUN), "--timeout", "100ms");
    expect(ran.code).toBe(10);
    expect(ran.json()).toMatchObject({ error: { code: "TIMEOUT", detail: { status: "running" } } });
  });
});

describe("fairlead rollout watch (USE-2)", () => {
  const history = [
    ...RUN,
    eventSample(3, "node.upgrade", { status: "succeeded", phase: null, action: null, error: null }, 1),
  ];
  const end = [status(4, "running", "completed")];

  test("without a terminal prints one plain line per event, and the end", async () => {
    const ran = await fairlead(["rollout", "watch", ROLLOUT_ID], {
      env: await site("running", history, end),
    });
    expect(ran.code).toBe(0);
    expect(ran.out.split("\n")).toEqual([
      "2026-01-01T00:00:01.000Z rollout pending → running",
      "2026-01-01T00:00:02.000Z batch 1 of 3 begins",
      "2026-01-01T00:00:03.000Z node node-1 succeeded",
      "2026-01-01T00:00:04.000Z rollout running → completed",
      `rollout ${ROLLOUT_ID} completed`,
      "",
    ]);
  });

  test("with --json prints an event per line, and the rollout last", async () => {
    const ran = await fairlead(["rollout", "watch", ROLLOUT_ID, "--json"], {
      env: await site("running", history, end),
    });
    const lines = ran.out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { kind?: string; status?: string });
    expect(lines.map(({ kind, status: at }) => kind ?? at)).toEqual([
      "rollout.status",
      "rollout.batch",
      "node.upgrade",
      "rollout.status",
      "completed",
    ]);
  });

  test("on a terminal redraws one picture, and leaves the last one standing", async () => {
    const ran = await fairlead(["rollout", "watch", ROLLOUT_ID], {
      env: await site("running", history, end),
      tty: true,
    });
    expect(ran).toMatchObject({ code: 0, out: "", err: "" });
    expect(ran.drawn[0]).toContain("running");
    expect(ran.drawn.at(-1)).toContain("completed");
  });

  test("ROLL-14: a rollout that was completed and goes back is watched to the end of that", async () => {
    const back = [...history, ...end, status(5, "completed", "rolling_back")];
    const env = await site("rolling_back", back, [status(6, "rolling_back", "rolled_back")]);
    const ran = await fairlead(["rollout", "watch", ROLLOUT_ID], { env });
    expect(ran.code).toBe(1);
    expect(ran.out.trimEnd()).toMatch(/rolled_back$/);
  });

  test("one that failed is exit code 1", async () => {
    const failed = [status(4, "running", "failed", { code: "THRESHOLD_EXCEEDED", text: "t" })];
    expect(
      (await fairlead(["rollout", "watch", ROLLOUT_ID], { env: await site("running", RUN, failed) })).code,
    ).toBe(1);
  });
});
