/** Root keys of three people, two of whom must sign: signatures are collected in a file, offline (SNAP-8, SNAP-15). */
import { generateKeyPairSync } from "node:crypto";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TrustBundle } from "../../../src/core/snapshot/trust-bundle.ts";
import { believeAfter, openBundle } from "../../../src/cli/keys/believe.ts";
import { bundlesAfter, createBundleReader } from "../../../src/server/snapshots/bundles.ts";
import { systemClock } from "../../../src/host/clock.ts";
import { createKeyService } from "../../../src/server/keys/service.ts";
import { canonicalBytes } from "../../../src/trust/canonical-json.ts";
import { decodeFrame, encodeFrame } from "../../../src/trust/frame.ts";
import { signerFromPem, type Signer } from "../../../src/trust/keys.ts";
import { parseCanonical } from "../../../src/trust/strict-json.ts";
import { startTestDatabases, type TestDatabases } from "../../support/database.ts";
import { personAt, startKeySite, type KeySite, type Person } from "../../support/keys/key-site.ts";
import { signTrustBundle } from "../../support/server/trust-bundle.ts";

let databases: TestDatabases;
let here: KeySite;
/** Holds one root key on a machine that knows no site. */
let bob: Person;
let bobsKey: string;

beforeAll(async () => {
  databases = await startTestDatabases();
  here = await startKeySite((await databases.fresh()).db, { count: 3, threshold: 2 });
  bob = personAt(join(here.folder, "bob"));
  await mkdir(bob.home, { mode: 0o700 });
  bobsKey = join(bob.home, "root-2.pem");
  await copyFile(join(here.folder, "keys", "root-2.pem"), bobsKey);
});
afterAll(async () => {
  await here.stop();
  await databases.stop();
});

const aliceKey = () => ["--root-key", join(here.folder, "keys", "root-1.pem")];
const signerOf = async (name: string): Promise<Signer> =>
  signerFromPem(await readFile(join(here.folder, "keys", name), "utf8"));

/** A draft that only Alice has signed. */
async function draft(name: string): Promise<{ file: string; key_id: string; missing: number }> {
  const file = join(here.folder, `${name}.bundle`);
  return here.operator.succeeds("keys", "introduce", "--authority", "online", "--out", file, ...aliceKey());
}

async function stored(): Promise<{ version: number; content: TrustBundle }> {
  const [row] = await here.db<{ version: number; content: unknown }[]>`
    select version, content from trust_bundles order by epoch desc, version desc limit 1`;
  return { version: row!.version, content: TrustBundle.parse(row!.content) };
}

describe("two of three root keys", () => {
  test("SNAP-8: one signature is not enough, and says whose are missing", async () => {
    const { file, missing } = await draft("alone");
    expect(missing).toBe(1);
    expect(await here.operator.refused("root", "publish", file)).toMatchObject({
      code: "ROOT_SIGNATURES_MISSING",
    });
    const body = { trust_bundle: (await readFile(file)).toString("base64"), abandon: [] };
    const { api_key } = JSON.parse(
      await readFile(join(here.operator.home, "contexts", "default.json"), "utf8"),
    ) as {
      api_key: string;
    };
    const post = (path: string, json: unknown, token = "") =>
      fetch(`${here.url}/api/v1${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
        body: JSON.stringify(json),
      });
    const { token } = (await (await post("/auth/token", { api_key })).json()) as { token: string };
    const answer = await post("/trust/bundles", body, token);
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({ error: { code: "ROOT_SIGNATURES_MISSING" } });
    expect((await post("/trust/bundles", body)).status).toBe(401);
    expect(await stored()).toMatchObject({ version: 1 });
  });

  test("SNAP-8: another person reads what it changes and signs offline; then anyone publishes it", async () => {
    const { file, key_id } = await draft("shared");
    const asked = await bob.fairlead("root", "sign", file, "--key", bobsKey);
    expect(asked).toMatchObject({ code: 2 });
    expect(asked.err).toContain(`online key ${key_id.slice(0, 12)}`);
    const signed = await bob.fairlead("root", "sign", file, "--key", bobsKey, "--yes");
    expect(signed).toMatchObject({ code: 0 });
    expect(signed.err).toContain("enough have signed it");
    expect(await bob.refused("root", "sign", file, "--key", bobsKey, "--yes")).toMatchObject({
      code: "INVALID_INPUT",
    });
    await here.operator.succeeds("root", "publish", file);
    expect((await here.keys()).find((key) => key.key_id === key_id)).toMatchObject({ state: "introduced" });
    expect(await here.operator.refused("root", "publish", file)).toMatchObject({ code: "BUNDLE_REFUSED" });
  });

  test("SNAP-8: who knows the site is told the difference in words", async () => {
    const { file } = await here.operator.succeeds<{ file: string }>(
      "keys",
      "revoke",
      "release",
      "--reason",
      "lost",
      "--out",
      join(here.folder, "words.bundle"),
      ...aliceKey(),
    );
    const second = ["--key", join(here.folder, "keys", "root-2.pem")];
    const { err } = await here.operator.fairlead("root", "sign", file, ...second);
    expect(err).toMatch(/^REVOKES release key release [0-9a-f]{12}.*for good$/m);
    expect(err).not.toMatch(/^adds/m);
  });

  test("SNAP-15: a key that is no root key of the site signs nothing", async () => {
    const { file } = await draft("stranger");
    const release = join(here.folder, "keys", "release.pem");
    expect(await bob.refused("root", "sign", file, "--key", release, "--yes")).toMatchObject({
      code: "INVALID_INPUT",
    });
  });
});

describe("what is not what was signed", () => {
  const altered = async (file: string, change: (bundle: TrustBundle) => TrustBundle): Promise<void> => {
    const frame = decodeFrame(await readFile(file));
    const content = canonicalBytes(change(TrustBundle.parse(parseCanonical(frame.content))));
    await writeFile(file, encodeFrame({ ...frame, content }));
  };

  test("SNAP-8: a draft that was altered on its way is refused by whoever is to sign it, and by the server", async () => {
    const { file } = await draft("altered");
    await altered(file, (bundle) => ({ ...bundle, intents_required: false }));
    expect(await bob.refused("root", "sign", file, "--key", bobsKey, "--yes")).toMatchObject({
      code: "BUNDLE_REFUSED",
    });
    expect(await here.operator.refused("root", "publish", file)).toMatchObject({ code: "BUNDLE_REFUSED" });
  });

  test("SNAP-8: a signature bit that was flipped is refused", async () => {
    const { file } = await draft("flipped");
    const frame = decodeFrame(await readFile(file));
    const [first] = frame.signatures;
    const bytes = Buffer.from(first!.signature, "base64");
    bytes[0]! ^= 1;
    const signatures = [{ ...first!, signature: bytes.toString("base64") }];
    await writeFile(file, encodeFrame({ ...frame, signatures }));
    expect(await bob.refused("root", "sign", file, "--key", bobsKey, "--yes")).toMatchObject({
      code: "BUNDLE_REFUSED",
    });
  });

  test("SNAP-8: a bundle that brings a revoked key back is refused, whoever signed it", async () => {
    const { content: before } = await stored();
    const { file } = await here.operator.succeeds<{ file: string }>(
      "keys",
      "revoke",
      "release",
      "--reason",
      "stolen",
      "--out",
      join(here.folder, "revoked.bundle"),
      ...aliceKey(),
    );
    await bob.succeeds("root", "sign", file, "--key", bobsKey, "--yes");
    await here.operator.succeeds("root", "publish", file);
    const { version, content } = await stored();
    expect(content.revoked_keys).toHaveLength(1);
    const [alice, second] = [await signerOf("root-1.pem"), await signerOf("root-2.pem")];
    const [online] = before.online_keys;
    const server = createKeyService({ db: here.db, ring: here.ring, clock: systemClock });
    const [back, unrevoked] = [{ release_keys: before.release_keys }, { revoked_keys: [] }];
    for (const [wish, field] of [
      [back, "release_keys"],
      [unrevoked, "revoked_keys"],
      [{ ...back, ...unrevoked }, "revoked_keys"],
    ] as const) {
      const { frame } = signTrustBundle(
        { clusterId: here.site.clusterId, root: alice, online: { ...alice, record: online! } },
        { bundle: { ...content, ...wish }, draft: { version: version + 1 }, signers: [alice, second] },
      );
      const path = join(here.folder, "back.bundle");
      await writeFile(path, frame);
      expect(await here.operator.refused("root", "publish", path)).toMatchObject({ code: "BUNDLE_REFUSED" });
      await expect(server.publish(frame, [], null, "thief")).rejects.toMatchObject({
        code: "BUNDLE_REFUSED",
        detail: { field },
      });
    }
  });
});

test("SNAP-8: the root set changes by both sets' signatures, pins follow, and a node that slept through it finds its way", async () => {
  const file = join(here.folder, "root-4.pem");
  await here.operator.succeeds("keys", "generate", "--out", file);
  const pinsOf = async () =>
    (await here.operator.succeeds<{ pins: { root_pin: string } }>("context", "show")).pins;
  const before = await pinsOf();
  const both = [...aliceKey(), "--root-key", join(here.folder, "keys", "root-2.pem")];
  const add = ["keys", "introduce", "--authority", "root", "--public-key", `${file}.pub`, ...both];
  const unsigned = ["--threshold", "3", "--out", join(here.folder, "three.bundle")];
  expect(await here.operator.succeeds(...add, ...unsigned)).toMatchObject({ published: false, missing: 1 });
  await here.operator.succeeds(...add, "--threshold", "1");
  expect((await pinsOf()).root_pin).not.toBe(before.root_pin);

  // By the newest bundle alone, signed by the new key, it would be lost: it is handed the change on the way.
  const [old, changed] = await framesBack(2);
  await here.operator.succeeds("keys", "introduce", "--authority", "online", "--root-key", file);
  const newest = await createBundleReader(here.db, () => 0)();
  const held = openBundle(old!);
  const { config_version: version, authority_epoch: epoch } = held.header;
  const way = bundlesAfter(newest, { epoch, version }).map((frame) => Buffer.from(frame, "base64"));
  expect(way[0]).toEqual(changed);
  expect(() => believeAfter(way.at(-1)!, held)).toThrow(expect.objectContaining({ code: "BUNDLE_REFUSED" }));
  expect(believeAfter(way.at(-1)!, believeAfter(way[0]!, held)).header.config_version).toBe(newest.version);
  expect(bundlesAfter(newest, newest)).toEqual([]);
});

test("SNAP-1: an RSA root key is introduced with the others' signatures, and signs the next bundle alone", async () => {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const file = join(here.folder, "root-rsa.pem");
  await writeFile(file, privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
  await writeFile(`${file}.pub`, publicKey.export({ type: "spki", format: "pem" }));
  const both = [...aliceKey(), "--root-key", join(here.folder, "keys", "root-2.pem"), "--root-key", file];
  const add = ["keys", "introduce", "--authority", "root", "--public-key", `${file}.pub`, "--threshold", "1"];
  await here.operator.succeeds(...add, ...both);
  await here.operator.succeeds("keys", "introduce", "--authority", "online", "--root-key", file);
  const [changed, next] = await framesBack(2);
  expect(believeAfter(next!, openBundle(changed!)).header.signature_algorithm).toBe("RSA-PSS");
});

/** The newest ones stored, oldest first. */
async function framesBack(count: number): Promise<Buffer[]> {
  const rows = await here.db<{ frame: Buffer }[]>`
    select frame from trust_bundles order by epoch desc, version desc limit ${count}`;
  return rows.map(({ frame }) => frame).toReversed();
}
