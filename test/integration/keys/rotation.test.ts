/** Rotation of keys by the operators' commands, on the real API and database (SNAP-8). */
import { generateKeyPairSync } from "node:crypto";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { NodeId } from "../../../src/core/ids.ts";
import type { KeyView } from "../../../src/core/protocol/keys-api.ts";
import { rsaAlgorithmIn } from "../../../src/cli/operator-files.ts";
import { createRevokedReader } from "../../../src/server/agents/revoked.ts";
import { createKeyRing } from "../../../src/server/identity/key-ring.ts";
import { silentLogger } from "../../../src/host/log.ts";
import { createBundleReader } from "../../../src/server/snapshots/bundles.ts";
import { signIntent, verifyIntent } from "../../../src/trust/intent.ts";
import { signerFromPem } from "../../../src/trust/keys.ts";
import { intentOf } from "../../support/trust-orders.ts";
import { startTestDatabases, type TestDatabases } from "../../support/database.ts";
import { insertRollout } from "../../support/server/health-rows.ts";
import { startKeySite, type KeySite } from "../../support/keys/key-site.ts";

let databases: TestDatabases;
let here: KeySite;
let first: NodeId;
let second: NodeId;

beforeAll(async () => {
  databases = await startTestDatabases();
});
afterAll(() => databases.stop());
beforeEach(async () => {
  here = await startKeySite((await databases.fresh()).db);
  [first, second] = [await here.node("val-1"), await here.node("val-2")];
  for (const id of [first, second]) await here.publish(id);
});
afterEach(() => here.stop());

const online = async (state: KeyView["state"]): Promise<KeyView> =>
  (await here.keys()).find((key) => key.authority === "online" && key.state === state)!;
const introduce = () =>
  here.operator.succeeds<{ key_id: string; version: number }>("keys", "introduce", "--authority", "online");
const bothBeat = async (): Promise<void> => {
  for (const id of [first, second]) await here.beats(id);
};
const pemFiles = async (): Promise<string[]> =>
  (await readdir(here.site.keysDir)).filter((name) => name.startsWith("online-key")).toSorted();

describe("an online key's way in and out", () => {
  test("SNAP-8: introduce, promote, retire: each step waits for every node, and the old key's file goes last", async () => {
    const before = await online("active");
    const { key_id, version } = await introduce();
    expect(version).toBe(2);
    expect(await online("introduced")).toMatchObject({ key_id, bundle_version: 2, confirmed_by: 0 });
    expect(await pemFiles()).toEqual([`online-key-${key_id.slice(0, 16)}.pem`, "online-key.pem"]);
    expect((await stat(join(here.site.keysDir, (await pemFiles())[0]!))).mode & 0o777).toBe(0o600);
    expect(here.ring.signers().map(({ record }) => record.key_id)).toEqual([before.key_id, key_id]);

    await here.beats(first);
    await here.beats(second, { trust_bundle: { epoch: 1, version: 1 } });
    expect(await here.operator.refused("keys", "promote", key_id)).toMatchObject({
      code: "KEY_NOT_CONFIRMED",
      detail: { nodes: [{ name: "val-2" }] },
    });
    await here.beats(second);
    await here.operator.succeeds("keys", "promote", key_id);
    expect(here.ring.signers().map(({ record }) => record.key_id)).toEqual([key_id, before.key_id]);
    expect(await online("retiring")).toMatchObject({ key_id: before.key_id });

    expect(await here.operator.refused("keys", "retire", before.key_id)).toMatchObject({
      code: "KEY_NOT_CONFIRMED",
      detail: { nodes: [{ name: "val-1", behind: ["service_assignment"] }, { name: "val-2" }] },
    });
    for (const id of [first, second]) await here.publish(id);
    await bothBeat();
    await here.operator.succeeds("keys", "retire", before.key_id);
    expect((await here.keys()).find((key) => key.key_id === before.key_id)).toMatchObject({
      state: "retired",
    });
    expect(here.ring.signers().map(({ record }) => record.key_id)).toEqual([key_id]);
    await expect.poll(pemFiles).toEqual([`online-key-${key_id.slice(0, 16)}.pem`]);
  });

  test("SNAP-8: a bundle is renewed with the same keys and a later end", async () => {
    const before = await here.keys();
    const days = ["--valid-days", "700"] as const;
    const renewed = await here.operator.succeeds<{ version: number }>("root", "renew", ...days);
    expect(renewed.version).toBe(2);
    const states = (keys: readonly KeyView[]) => keys.map(({ key_id, state }) => [key_id, state]);
    expect(states(await here.keys())).toEqual(states(before));
    expect(here.ring.signers()).toHaveLength(1);
  });

  test("SNAP-8: nodes are left behind by name, and from a retired key only after its deadline", async () => {
    const before = await online("active");
    const { key_id } = await introduce();
    await here.beats(first);
    expect(await here.operator.refused("keys", "promote", key_id, "--abandon", "val-1")).toMatchObject({
      code: "KEY_NOT_CONFIRMED",
    });
    expect(await here.operator.refused("keys", "promote", key_id, "--abandon", "nobody")).toMatchObject({
      code: "NOT_FOUND",
    });
    await here.operator.succeeds("keys", "promote", key_id, "--abandon", "val-2", "--deadline", "1h");
    await here.publish(first);
    await here.beats(first);
    const retire = ["keys", "retire", before.key_id, "--abandon", "val-2"] as const;
    expect(await here.operator.refused(...retire)).toMatchObject({ code: "KEY_NOT_CONFIRMED" });
    here.clock.now += 3_600_000;
    expect(await here.operator.refused("keys", "retire", before.key_id)).toMatchObject({
      code: "KEY_NOT_CONFIRMED",
      detail: { nodes: [{ name: "val-2" }] },
    });
    await here.operator.succeeds(...retire);
  });

  test("SNAP-8: a revoked node counts no more", async () => {
    const { key_id } = await introduce();
    await here.beats(first);
    await here.db`update nodes set revoked_at = now() where id = ${second}`;
    await here.operator.succeeds("keys", "promote", key_id);
  });

  test("SNAP-8: what has no turn is refused with the key's state", async () => {
    const active = await online("active");
    expect(await here.operator.refused("keys", "promote", active.key_id)).toMatchObject({
      code: "KEY_STATE",
    });
    expect(await here.operator.refused("keys", "retire", active.key_id)).toMatchObject({ code: "KEY_STATE" });
    const [root] = await here.keys();
    expect(await here.operator.refused("keys", "promote", root!.key_id)).toMatchObject({ code: "KEY_STATE" });
    expect(await here.operator.refused("keys", "retire", "release")).toMatchObject({ code: "KEY_STATE" });
  });

  test("SNAP-8: the only online key is revoked and replaced in one bundle, and never comes back", async () => {
    const stolen = await online("active");
    await here.operator.succeeds("keys", "revoke", stolen.key_id, "--reason", "stolen");
    const active = await online("active");
    expect(active.key_id).not.toBe(stolen.key_id);
    expect(here.ring.signers().map(({ record }) => record.key_id)).toEqual([active.key_id]);
    await expect.poll(pemFiles).toEqual([`online-key-${active.key_id.slice(0, 16)}.pem`]);
    const pem = `-----BEGIN PUBLIC KEY-----\n${stolen.public_key}\n-----END PUBLIC KEY-----\n`;
    const file = join(here.folder, "stolen.pub");
    await writeFile(file, pem);
    const again = ["keys", "introduce", "--authority", "release", "--public-key", file] as const;
    expect(await here.operator.refused(...again)).toMatchObject({ code: "BUNDLE_REFUSED" });
    const [event] = await here.db`select data from events where kind = 'key.revoked'`;
    expect(event).toMatchObject({ data: { reason: "stolen" } });
  });
});

test("SNAP-8: a revoked key is told by heads, to nodes that do not hold the bundle yet", async () => {
  const stolen = await online("active");
  await here.operator.succeeds("keys", "revoke", stolen.key_id, "--reason", "stolen");
  const rows =
    await here.db`select subject, node_id, reason from authority_revocations where kind = 'signing_key'`;
  expect(rows).toEqual([{ subject: stolen.key_id, node_id: null, reason: "stolen" }]);
  const time = await createRevokedReader(here.db).read([first]);
  expect(time.paged(first).rest).toContainEqual({ kind: "signing_key", id: stolen.key_id });
});

test("SNAP-15: a bundle that revokes a release key wakes the rollouts that run under an intent", async () => {
  const [signed, unsigned] = [await insertRollout(here.db), await insertRollout(here.db)];
  await here.db`update rollouts set intent_frame = 'frame' where id = ${signed}`;
  const release = (await here.keys()).find(({ authority }) => authority === "release")!;
  await here.operator.succeeds("keys", "revoke", release.key_id, "--reason", "stolen");
  const awake = await here.db<{ id: string }[]>`select id from rollouts where wake_at is not null`;
  expect(awake.map(({ id }) => id)).toEqual([signed]);
  expect(awake.map(({ id }) => id)).not.toContain(unsigned);
});

test("SNAP-8: a bundle with another signing key waits for a publisher that is under way with the old one", async () => {
  const stolen = await online("active");
  let revoking: Promise<unknown> | undefined;
  await here.db.begin(async (publisher) => {
    await publisher`select 1 from nodes where id = ${first} for no key update`;
    revoking = here.operator.succeeds("keys", "revoke", stolen.key_id, "--reason", "stolen");
    await expect
      .poll(
        () => here.db`
          select 1 from pg_stat_activity
          where wait_event_type = 'Lock' and datname = current_database() and query like '%from nodes%'`,
        { timeout: 10_000 },
      )
      .not.toHaveLength(0);
    expect(await online("active")).toMatchObject({ key_id: stolen.key_id });
  });
  await revoking;
  expect((await online("active")).key_id).not.toBe(stolen.key_id);
});

describe("keys that others hold", () => {
  /** An RSA pair as existing infrastructure makes it. */
  async function rsaPair(name: string, modulusLength = 2048): Promise<{ pem: string; publicFile: string }> {
    const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength });
    const publicFile = join(here.folder, `${name}.pub`);
    await writeFile(publicFile, publicKey.export({ type: "spki", format: "pem" }));
    return { pem: privateKey.export({ type: "pkcs8", format: "pem" }).toString(), publicFile };
  }
  const introduceRelease = (name: string, publicFile: string, ...more: string[]) =>
    [
      "keys",
      "introduce",
      "--authority",
      "release",
      "--name",
      name,
      "--public-key",
      publicFile,
      ...more,
    ] as const;

  test.each([
    ["RS256", ["--algorithm", "RS256"]],
    ["RSA-PSS", []],
  ] as const)(
    "SNAP-1: an RSA release key is introduced as %s, and its intents are believed",
    async (algorithm, more) => {
      const { pem, publicFile } = await rsaPair("hsm");
      await here.operator.succeeds(...introduceRelease("hsm", publicFile, ...more));
      const known = await here.keys();
      expect(known.find(({ name }) => name === "hsm")).toMatchObject({ algorithm, state: "active" });
      const signer = signerFromPem(pem, rsaAlgorithmIn(known));
      const { content } = await createBundleReader(here.db, () => 0)();
      const now = { local: Date.now(), effective: Date.now() };
      const frame = signIntent(intentOf(), signer);
      expect(verifyIntent(frame, content, now).intent).toEqual(intentOf());
      const other = signerFromPem(pem, () => (algorithm === "RS256" ? "RSA-PSS" : "RS256"));
      expect(() => verifyIntent(signIntent(intentOf(), other), content, now)).toThrow("does not verify");
    },
  );

  test("SNAP-1: RSA that can be factored, or is too long for a frame, is not introduced; nor an algorithm that is not the key's", async () => {
    for (const [bits, why] of [
      [1024, "below 2048 bits"],
      [4608, "above 4096 bits"],
    ] as const) {
      const { publicFile } = await rsaPair(`rsa-${bits}`, bits);
      const refused = await here.operator.refused(...introduceRelease("weak", publicFile));
      expect([refused.code, refused.message]).toEqual(["INVALID_INPUT", expect.stringContaining(why)]);
    }
    const file = join(here.folder, "carol.pem");
    await here.operator.succeeds("keys", "generate", "--out", file);
    const wrong = await here.operator.refused(
      ...introduceRelease("carol", `${file}.pub`, "--algorithm", "RS256"),
    );
    expect([wrong.code, wrong.message]).toEqual(["USAGE", expect.stringContaining("Ed25519")]);
    const online = ["keys", "introduce", "--authority", "online", "--algorithm", "RS256"] as const;
    expect(await here.operator.refused(...online)).toMatchObject({ code: "USAGE" });
  });

  test("SNAP-8: an operator's release key is replaced: a new one comes in, the old one goes when all nodes know", async () => {
    const file = join(here.folder, "alice.pem");
    await here.operator.succeeds("keys", "generate", "--out", file);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await here.operator.refused("keys", "generate", "--out", file)).toMatchObject({
      code: "INVALID_INPUT",
    });
    const wrong = ["keys", "introduce", "--authority", "release", "--public-key", file] as const;
    expect((await here.operator.refused(...wrong)).message).toContain("private key");
    const { key_id } = await here.operator.succeeds<{ key_id: string }>(
      "keys",
      "introduce",
      "--authority",
      "release",
      "--name",
      "alice",
      "--public-key",
      `${file}.pub`,
      "--profiles",
      "validator,edge",
    );
    const find = async (name: string) => (await here.keys()).find((key) => key.name === name);
    expect(await find("alice")).toMatchObject({ key_id, state: "active", profiles: ["validator", "edge"] });

    expect(await here.operator.refused("keys", "retire", "release")).toMatchObject({
      code: "KEY_NOT_CONFIRMED",
    });
    expect(await find("release")).toMatchObject({ state: "retiring" });
    await bothBeat();
    await here.operator.succeeds("keys", "retire", "release");
    expect(await find("release")).toMatchObject({ state: "retired" });
    await here.operator.succeeds("context", "use", "default", "--release-key", file);
    expect(await here.operator.succeeds("context", "show")).toMatchObject({ release_key_file: file });
  });

  test("SNAP-8: `keys list` says of each key where it stands and what is next", async () => {
    const { key_id } = await introduce();
    await here.beats(first);
    const { out, err } = await here.operator.fairlead("keys", "list");
    expect(out).toMatch(
      new RegExp(`^${key_id.slice(0, 12)} +online +online +introduced .* 1 of 2 +wait for 1 of 2`, "m"),
    );
    expect(err).toContain("trust bundle 2 of epoch 1");
  });
});

describe("private halves", () => {
  test("SNAP-8: no private key is in any table", async () => {
    await introduce();
    const files = await Promise.all(
      (await pemFiles()).map((name) => readFile(join(here.site.keysDir, name), "utf8")),
    );
    expect(files).toHaveLength(2);
    const secrets = files.map((pem) =>
      Buffer.from(pem.split("\n").slice(1, -2).join(""), "base64").subarray(-32),
    );
    const tables = await here.db<{ name: string }[]>`
      select table_name as name from information_schema.tables where table_schema = 'public'`;
    const dump = (
      await Promise.all(
        tables.map(async ({ name }) => {
          const rows = await here.db<{ row: string }[]>`select t::text as row from ${here.db(name)} t`;
          return rows.map(({ row }) => row).join("\n");
        }),
      )
    ).join("\n");
    expect(dump).toContain((await online("active")).key_id);
    for (const secret of secrets)
      for (const form of ["hex", "base64", "base64url", "latin1"] as const)
        expect(dump.includes(secret.toString(form))).toBe(false);
    expect(dump).not.toContain("PRIVATE KEY");
  });

  test("SNAP-8: a replica without the active key's file signs nothing and says why", async () => {
    const { db, site } = here;
    const other = await createKeyRing({
      db,
      keysDir: join(here.folder, "other-replica"),
      clusterId: site.clusterId,
      log: silentLogger,
    });
    expect(other.problem()).toContain("is not here");
    expect(() => other.signers()).toThrow(expect.objectContaining({ code: "NOT_READY" }));
    expect(here.ring.problem()).toBeNull();
    await other.close();
  });

  test("SNAP-8: a replica follows what another one promoted, at the latest inside the transaction that signs", async () => {
    const { db, site } = here;
    const { clusterId, keysDir } = site;
    const other = await createKeyRing({ db, keysDir, clusterId, log: silentLogger });
    const { key_id } = await introduce();
    await bothBeat();
    await here.operator.succeeds("keys", "promote", key_id);
    await other.follow(db);
    expect(other.signers()[0].record.key_id).toBe(key_id);
    await other.close();
  });
});
