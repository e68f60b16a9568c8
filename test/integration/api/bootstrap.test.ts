// The first run of a server: one secret, one bundle, one administrator's key.

import { existsSync } from "node:fs";
import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ClusterId } from "../../../src/core/ids.ts";
import type { Database } from "../../../src/server/db/database.ts";
import { checkFirstRun, prepareFirstRun } from "../../../src/server/auth/first-run-secret.ts";
import { generateSigner } from "../../../src/trust/keys.ts";
import { startTestDatabases, type TestDatabases } from "../../support/database.ts";
import { firstRunSecret, makeSite, newId, startOperators, type Site } from "../../support/server/site.ts";
import { signTrustBundle } from "../../support/server/trust-bundle.ts";

let databases: TestDatabases;
let db: Database;
let site: Site;
let app: FastifyInstance;
let secret: string;

beforeAll(async () => {
  databases = await startTestDatabases();
});
afterAll(async () => databases.stop());

async function newServer(): Promise<void> {
  ({ db } = await databases.fresh());
  site = await makeSite(db);
  secret = await firstRunSecret(site);
  app = await startOperators(db, site);
}
async function endServer(): Promise<void> {
  await app.close();
  await site.remove();
}

const post = async (url: string, payload: object) => {
  const answer = await app.inject({ method: "POST", url: `/api/v1${url}`, payload });
  const body = answer.json<{ error?: { code: string; message: string }; api_key?: string }>();
  return { status: answer.statusCode, body, code: body.error?.code };
};
const handIn = (frame: Buffer, first_run_secret = secret) =>
  post("/bootstrap/trust-bundle", { first_run_secret, trust_bundle: frame.toString("base64") });

describe("a new server", () => {
  beforeEach(newServer);
  afterEach(endServer);

  test("the secret's file is readable by its owner only, and the same for every replica that starts", async () => {
    expect((await stat(site.firstRunSecretPath)).mode & 0o777).toBe(0o600);
    const paths = await Promise.all([1, 2, 3].map(() => prepareFirstRun(db, site.firstRunSecretPath)));
    expect(new Set(paths)).toEqual(new Set([site.firstRunSecretPath]));
    expect(await firstRunSecret(site)).toBe(secret);
  });

  test.each(["", "\n", "  \n"])(
    "an empty claim does not open a server whose secret file holds %j",
    async (text) => {
      const path = join(site.folder, "empty-secret");
      await writeFile(path, text, { mode: 0o600 });
      await expect(checkFirstRun(db, path, "")).rejects.toMatchObject({ code: "FIRST_RUN_SECRET_WRONG" });
      const missing = checkFirstRun(db, join(site.folder, "none"), "");
      await expect(missing).rejects.toMatchObject({ code: "FIRST_RUN_SECRET_WRONG" });
    },
  );

  test("with the secret a new server tells its cluster, its online key and its pin", async () => {
    const { status, body } = await post("/bootstrap", { first_run_secret: secret });
    expect(status).toBe(200);
    expect(body).toEqual({
      cluster_id: site.clusterId,
      online_key: site.online.record,
      ca_pin: site.ca.pin,
      enroll_url: "https://127.0.0.1:7402",
    });
  });

  test.each([
    ["another secret", "x".repeat(43)],
    ["a prefix of it", ""],
  ])("%s is refused", async (_what, wrong) => {
    const claimed = wrong === "" ? secret.slice(0, -1) : wrong;
    expect((await post("/bootstrap", { first_run_secret: claimed })).code).toBe("FIRST_RUN_SECRET_WRONG");
    expect((await handIn(signTrustBundle(site).frame, claimed)).code).toBe("FIRST_RUN_SECRET_WRONG");
  });

  test("a bundle signed by its root is stored, answers with an administrator's key and ends the first run", async () => {
    const { status, body } = await handIn(signTrustBundle(site).frame);
    expect(status).toBe(200);
    expect(existsSync(site.firstRunSecretPath)).toBe(false);
    const token = await app.inject({
      method: "POST",
      url: "/api/v1/auth/token",
      payload: { api_key: body.api_key },
    });
    const trust = await app.inject({
      url: "/api/v1/trust",
      headers: { authorization: `Bearer ${token.json<{ token: string }>().token}` },
    });
    expect(trust.json()).toMatchObject({ cluster_id: site.clusterId, version: 1, ca_pin: site.ca.pin });
    expect(JSON.stringify(await db`select * from api_keys`)).not.toContain(body.api_key);
  });

  test("a second bundle is refused, with the old secret or without", async () => {
    await handIn(signTrustBundle(site).frame);
    expect((await handIn(signTrustBundle(site).frame)).code).toBe("ALREADY_INITIALIZED");
    expect((await post("/bootstrap", { first_run_secret: secret })).code).toBe("ALREADY_INITIALIZED");
  });

  test("of several bundles at once, one is stored and one key is given out", async () => {
    const answers = await Promise.all([1, 2, 3, 4].map(() => handIn(signTrustBundle(site).frame)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ code }) => code === "ALREADY_INITIALIZED")).toHaveLength(3);
    expect(await db`select id from api_keys`).toHaveLength(1);
  });

  test("a secret's file that a crash left behind is removed at the next start", async () => {
    const { frame, content } = signTrustBundle(site);
    await db`insert into trust_bundles (version, frame, content) values (1, ${frame}, ${db.json(content)})`;
    expect(await prepareFirstRun(db, site.firstRunSecretPath)).toBeNull();
    expect(existsSync(site.firstRunSecretPath)).toBe(false);
  });
});

describe("a bundle is refused and the first run stays open", () => {
  beforeAll(newServer);
  afterAll(endServer);

  const stranger = generateSigner().signer;
  const cases: readonly (readonly [string, () => Buffer])[] = [
    ["when its bytes are damaged", () => Buffer.from("not a frame")],
    ["when a stranger signed it", () => signTrustBundle(site, { signers: [stranger] }).frame],
    [
      "when it has too few of its root's signatures",
      () =>
        signTrustBundle(site, {
          bundle: { root: { threshold: 2, keys: [site.root.record, stranger.record] } },
        }).frame,
    ],
    [
      "when one key signs twice for a threshold of two",
      () =>
        signTrustBundle(site, {
          bundle: { root: { threshold: 2, keys: [site.root.record, stranger.record] } },
          signers: [site.root, site.root],
        }).frame,
    ],
    [
      "when it is for another cluster",
      () => signTrustBundle(site, { draft: { clusterId: newId() as ClusterId } }).frame,
    ],
    ["when it does not begin at version 1", () => signTrustBundle(site, { draft: { version: 2 } }).frame],
    ["when it begins in another epoch", () => signTrustBundle(site, { draft: { epoch: 2 } }).frame],
    [
      "when it is another kind of snapshot",
      () => signTrustBundle(site, { draft: { scope: "node_runtime" } }).frame,
    ],
    ["when it has expired", () => signTrustBundle(site, { draft: { issuedAt: 0 } }).frame],
    [
      "when it does not name this server's online key",
      () => signTrustBundle(site, { bundle: { online_keys: [] } }).frame,
    ],
    [
      "when it revokes this server's online key",
      () => signTrustBundle(site, { bundle: { revoked_keys: [site.online.record.key_id] } }).frame,
    ],
    ["when one key stands for root and online", () => signTrustBundle({ ...site, root: site.online }).frame],
  ];

  test.each(cases)("%s", async (_when, frame) => {
    expect((await handIn(frame())).code).toBe("BUNDLE_REFUSED");
    expect(await db`select version from trust_bundles`).toHaveLength(0);
    expect(await firstRunSecret(site)).toBe(secret);
  });

  test("until a good one comes", async () => {
    expect((await handIn(signTrustBundle(site).frame)).status).toBe(200);
  });
});
