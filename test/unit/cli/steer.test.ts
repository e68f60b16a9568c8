import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { generateSigner } from "../../../src/trust/keys.ts";
import { nodeSample, ROLLOUT_ID, rolloutSample, upgradeSample, uuid } from "./samples.ts";
import { fairlead, homeFor, refusal, serve, temporaryFolder, TOKEN_ANSWER, type Asked } from "./support.ts";

const BASE = `/api/v1/rollouts/${ROLLOUT_ID}`;

async function site(answer: (asked: Asked) => ReturnType<Parameters<typeof serve>[0]> = () => undefined) {
  let status = "paused";
  const fixture = await serve((asked) => {
    const { pathname } = asked.url;
    if (pathname === "/api/v1/auth/token") return TOKEN_ANSWER;
    const own = answer(asked);
    if (own !== undefined) return own;
    if (pathname.endsWith("/nodes"))
      return { json: { nodes: [upgradeSample(1), upgradeSample(2)], next_cursor: null } };
    const view = rolloutSample({ status });
    if (asked.method === "POST") status = "running"; // the drive reads the signal a moment later
    return { json: view };
  });
  const env = await homeFor(fixture.url);
  const posted = () =>
    fixture.asked.filter(({ method, url }) => method === "POST" && url.pathname.startsWith(BASE));
  return { run: (...words: string[]) => fairlead(["rollout", ...words], { env }), posted };
}

describe("signals to a rollout (ROLL-11, USE-2)", () => {
  test.each(["start", "pause", "resume", "cancel", "force", "approve-canary", "rollback", "retry"])(
    "ROLL-11: `rollout %s` is one POST with a reason and a key of its own",
    async (verb) => {
      const { run, posted } = await site();
      expect(await run(verb, ROLLOUT_ID, "--reason", "because")).toMatchObject({ code: 0, err: "" });
      const [asked, ...more] = posted();
      expect(more).toEqual([]);
      expect(asked).toMatchObject({ url: { pathname: `${BASE}/${verb}` }, body: { reason: "because" } });
      expect(asked!.headers["idempotency-key"]).toMatch(/^[0-9a-f-]{36}$/);
    },
  );

  test.each(["retry", "skip"])("ROLL-11: `rollout %s --node` is about that node alone", async (verb) => {
    const { run, posted } = await site();
    const ran = await run(verb, ROLLOUT_ID, "--node", "node-2");
    expect(ran.out).toContain(`${verb} of node-2 in rollout ${ROLLOUT_ID} is noted; it is paused`);
    expect(posted()[0]!.url.pathname).toBe(`${BASE}/nodes/${uuid(2)}/${verb}`);
  });

  test("ROLL-30: `rollout give-up` names one node, or with --all-silent none, and refuses both and neither", async () => {
    const { run, posted } = await site();
    const one = await run("give-up", ROLLOUT_ID, "node-2", "--reason", "no power");
    expect([one.code, one.err]).toEqual([0, ""]);
    expect(one.out).toContain("give-up of node-2 in rollout");
    expect((await run("give-up", ROLLOUT_ID, "--all-silent")).code).toBe(0);
    expect(posted().map(({ url }) => url.pathname)).toEqual([
      `${BASE}/nodes/${uuid(2)}/give-up`,
      `${BASE}/give-up`,
    ]);
    expect((await run("give-up", ROLLOUT_ID)).code).toBe(2);
    expect((await run("give-up", ROLLOUT_ID, "node-2", "--all-silent")).code).toBe(2);
    expect(posted()).toHaveLength(2);
  });

  test("ROLL-11: what changes the state at once is told with its effect, so that a wait after it does not see the old one", async () => {
    const { run } = await site();
    expect((await run("resume", ROLLOUT_ID)).out).toContain("is noted; it is running");
  });

  test.each([
    ["pause", { pause_requested: true }, "running and pauses after this batch"],
    ["cancel", { cancel_requested: true }, "running and ends after this batch"],
    ["rollback", { rollback_requested: true }, "running and goes back when the nodes at work are settled"],
  ])(
    "ROLL-11: `rollout %s` of a running rollout answers when the server carries it",
    async (verb, carried, said) => {
      let looks = 0;
      const { run } = await site(({ method, url }) => {
        if (url.pathname.endsWith("/nodes")) return undefined;
        if (method === "POST" || url.pathname !== BASE) return { json: rolloutSample({ status: "running" }) };
        looks += 1;
        return { json: rolloutSample({ status: "running", ...(looks < 4 ? {} : carried) }) };
      });
      expect((await run(verb, ROLLOUT_ID)).out).toContain(`is noted; it is ${said}`);
    },
  );

  test("ROLL-11: a signal that the server does not apply in time is told as noted and not applied yet", async () => {
    const { run } = await site(() => ({ json: rolloutSample({ status: "running" }) }));
    const ran = await run("pause", ROLLOUT_ID);
    expect(ran.out).toContain("is noted and not applied yet; it is still running");
    expect(ran.code).toBe(0);
  });

  test("a node that is no part of the rollout is not found, and skip without a node is refused", async () => {
    const { run, posted } = await site();
    expect((await run("retry", ROLLOUT_ID, "--node", "node-9")).code).toBe(5);
    expect((await run("skip", ROLLOUT_ID)).code).toBe(2);
    expect(posted()).toEqual([]);
  });

  test("ROLL-11: an answer that was lost is asked for again under the same key", async () => {
    let asked = 0;
    const { run, posted } = await site(({ method, url }) => {
      if (method !== "POST" || !url.pathname.startsWith(BASE)) return undefined;
      asked += 1;
      return asked === 1 ? (response) => response.destroy() : undefined;
    });
    expect((await run("force", ROLLOUT_ID)).code).toBe(0);
    const keys = posted().map(({ headers }) => headers["idempotency-key"]);
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(1);
  });

  test("a key of one's own is sent, and one that is none is refused before anything is sent", async () => {
    const { run, posted } = await site();
    expect((await run("pause", ROLLOUT_ID, "--idempotency-key", "nightly-17")).code).toBe(0);
    expect(posted()[0]!.headers["idempotency-key"]).toBe("nightly-17");
    expect((await run("pause", ROLLOUT_ID, "--idempotency-key", "a b")).code).toBe(2);
    expect(posted()).toHaveLength(1);
  });

  test("ROLL-12: a resume that is no approval keeps its code, and says which command approves", async () => {
    const { run } = await site(({ url }) =>
      url.pathname.endsWith("/resume") ? refusal(409, "CANARY_NOT_APPROVED", "waits") : undefined,
    );
    const ran = await run("resume", ROLLOUT_ID);
    expect(ran.code).toBe(4);
    expect(ran.err).toContain("fairlead rollout approve-canary");
  });

  test.each(["rollback", "resume", "retry", "approve-canary"])(
    "ROLL-14: `rollout %s` after a closed window brings the same wish, signed anew on this machine",
    async (verb) => {
      const { run, posted } = await site(({ url }) =>
        url.pathname === "/api/v1/nodes"
          ? { json: { nodes: [nodeSample(1), nodeSample(2)], next_cursor: null } }
          : undefined,
      );
      const { signer, pem } = generateSigner();
      const key = join(await temporaryFolder(), "release.pem");
      await writeFile(key, pem);
      const wish = ["--profile", "demo-http", "--checksum", `sha256:${"5".repeat(64)}`, "--release-key", key];
      const ran = await run(verb, ROLLOUT_ID, ...wish);
      expect(ran.err).toContain(`signing with release key ${signer.record.key_id.slice(0, 12)} for 2 nodes`);
      expect((posted()[0]!.body as { intent: string }).intent).toMatch(/^[A-Za-z0-9+/]{200,}=*$/);
    },
  );

  test("a refusal is not tried again", async () => {
    const { run, posted } = await site(({ method, url }) =>
      method === "POST" && url.pathname.startsWith(BASE)
        ? refusal(409, "GROUP_MEMBER", "its group drives it")
        : undefined,
    );
    expect((await run("pause", ROLLOUT_ID)).code).toBe(4);
    expect(posted()).toHaveLength(1);
  });
});
