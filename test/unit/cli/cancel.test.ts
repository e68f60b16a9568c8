// The signature of a cancel: with the cancel, later, or missing and said so (SNAP-15).
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Intent, isVoid } from "../../../src/core/protocol/intent.ts";
import { decodeFrame } from "../../../src/trust/frame.ts";
import { generateSigner } from "../../../src/trust/keys.ts";
import { ROLLOUT_ID, rolloutSample, uuid } from "./samples.ts";
import { componentSample, GROUP_ID, groupSample } from "./steer-samples.ts";
import { fairlead, homeFor, serve, temporaryFolder, TOKEN_ANSWER } from "./support.ts";

const BASE = `/api/v1/rollouts/${ROLLOUT_ID}`;
const NOW = Date.UTC(2026, 0, 1, 12);
const SERIAL = NOW - 3_600_000;
const INTENT = { digest: `sha256:${"1".repeat(64)}`, not_after: "2026-01-02T00:00:00.000Z", serial: SERIAL };

interface Site {
  readonly status?: string;
  readonly voided?: boolean;
  /** The newest rollout of the profile. */
  readonly newest?: string;
}

async function site({ status = "cancelled", voided = false, newest = ROLLOUT_ID }: Site = {}) {
  const cancel_requested = status === "running"; // the drive has read it
  const view = rolloutSample({ status, cancel_requested, intent: { ...INTENT, voided } });
  const fixture = await serve(({ url }) => {
    if (url.pathname === "/api/v1/auth/token") return TOKEN_ANSWER;
    if (url.pathname === "/api/v1/rollouts")
      return { json: { rollouts: [rolloutSample({ id: newest })], next_cursor: null } };
    return { json: view };
  });
  const env = await homeFor(fixture.url);
  const key = join(await temporaryFolder(), "release.pem");
  await writeFile(key, generateSigner().pem);
  const posted = () =>
    fixture.asked.filter(({ method, url }) => method === "POST" && url.pathname.startsWith(BASE));
  const run = (...words: string[]) =>
    fairlead(["rollout", "cancel", ROLLOUT_ID, ...words], { env, now: () => NOW });
  const sent = (): Intent => {
    const { intent } = posted()[0]!.body as { intent: string };
    const { header } = decodeFrame(Buffer.from(intent, "base64"));
    return Intent.parse(JSON.parse(Buffer.from(header).toString("utf8")));
  };
  return { run, posted, sent, key };
}

describe("`rollout cancel --sign`", () => {
  test("SNAP-15: signs the empty intent of a rollout that was cancelled before without one", async () => {
    const { run, posted, sent, key } = await site();
    const ran = await run("--sign", "--release-key", key, "--reason", "key is here");
    expect([ran.code, ran.err]).toEqual([0, ""]);
    expect(ran.out).toContain(`the cancel of rollout ${ROLLOUT_ID} is signed`);
    expect(posted()).toMatchObject([
      { url: { pathname: `${BASE}/cancel` }, body: { reason: "key is here" } },
    ]);
    expect([isVoid(sent()), sent().serial]).toEqual([true, NOW]);
  });

  test("SNAP-15: takes the next serial after its own where a later rollout was signed, whose intent it must not outdate", async () => {
    const { run, sent, key } = await site({ newest: uuid(9) });
    expect((await run("--sign", "--release-key", key)).code).toBe(0);
    expect(sent().serial).toBe(SERIAL + 1);
  });

  test("SNAP-15: without a key it is refused, with what to give, and nothing is sent", async () => {
    const { run, posted } = await site();
    const ran = await run("--sign");
    expect(ran.code).toBe(8);
    expect(ran.err).toContain("--release-key FILE");
    expect(posted()).toEqual([]);
  });

  test("SNAP-15: of what is called off already it is refused", async () => {
    const { run, posted, key } = await site({ voided: true });
    expect(await run("--sign", "--release-key", key)).toMatchObject({ code: 4 });
    expect(posted()).toEqual([]);
  });
});

test("SNAP-15: a cancel without a key says until when the signed intent stays valid, and what signs it later", async () => {
  const { run, posted } = await site({ status: "running" });
  const ran = await run();
  expect(posted()[0]!.body).toEqual({});
  expect(ran.out).toContain("stays valid until 2026-01-02T00:00:00.000Z");
  expect(ran.out).toContain(`fairlead rollout cancel ${ROLLOUT_ID.slice(0, 8)} --sign`);
});

test("SNAP-15: a cancel signs with the context's key by itself, and --no-sign does not", async () => {
  const { run, posted, sent, key } = await site({ status: "running" });
  await run("--release-key", key);
  expect(sent().serial).toBe(NOW);
  await run("--no-sign", "--release-key", key);
  expect(posted()[1]!.body).toEqual({});
});

test("SNAP-15: `group cancel --sign` of an ended group signs each component that was cancelled without a signature", async () => {
  const unsigned = { status: "cancelled", intent: { ...INTENT, voided: false } };
  const components = [
    componentSample(0, "consensus", { status: "completed", intent: { ...INTENT, voided: false } }),
    componentSample(1, "execution", unsigned),
    componentSample(2, "proxy", { ...unsigned, intent: { ...INTENT, voided: true } }),
  ];
  const group = groupSample({ status: "partial", components });
  const fixture = await serve(({ url }) => {
    if (url.pathname === "/api/v1/auth/token") return TOKEN_ANSWER;
    if (url.pathname === "/api/v1/rollouts") return { json: { rollouts: [], next_cursor: null } };
    return { json: url.pathname.includes("/rollout-groups/") ? group : components[1]!.rollout };
  });
  const key = join(await temporaryFolder(), "release.pem");
  await writeFile(key, generateSigner().pem);
  const env = await homeFor(fixture.url);
  const ran = await fairlead(["group", "cancel", GROUP_ID, "--sign", "--release-key", key], { env });
  expect([ran.code, ran.err]).toEqual([0, ""]);
  expect(ran.out).toContain("the cancel of 1 component of");
  const posted = fixture.asked.filter(
    ({ method, url }) => method === "POST" && url.pathname.endsWith("/cancel"),
  );
  expect(posted.map(({ url }) => url.pathname)).toEqual([
    `/api/v1/rollouts/${components[1]!.rollout.id}/cancel`,
  ]);
});
