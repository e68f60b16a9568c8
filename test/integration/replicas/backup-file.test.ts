/** The file that `fairlead backup` writes (USE-5): what goes in comes out, and what is not whole is refused untouched. */
import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FairleadError } from "../../../src/core/errors.ts";
import { systemClock } from "../../../src/host/clock.ts";
import { silentLogger } from "../../../src/host/log.ts";
import { readArchive, writeArchive, type Entry } from "../../../src/server/backup/archive.ts";
import { signManifest } from "../../../src/server/backup/authenticity.ts";
import { checkBackup } from "../../../src/server/backup/check.ts";
import { loadSite } from "../../../src/server/backup/load.ts";
import {
  KEYS_ENTRY,
  MANIFEST_ENTRY,
  SIGNATURE_ENTRY,
  type BackupManifest,
} from "../../../src/server/backup/manifest.ts";
import type { BackupOptions } from "../../../src/server/backup/options.ts";
import { runRestore } from "../../../src/server/backup/restore.ts";
import { tablesOf } from "../../../src/server/backup/schema.ts";
import type { Database } from "../../../src/server/db/database.ts";
import { loadOrCreateSiteCa, readSiteRoot } from "../../../src/server/identity/site-ca.ts";
import type { DatabaseSocket } from "../../../src/server/embedded/postgres.ts";
import { sha256Hex } from "../../../src/trust/digest.ts";
import { startTestDatabases, type TestDatabases } from "../../support/database.ts";
import { fairleadProcess } from "../../support/lab/operator.ts";

const NODES = 300;
const SECRET_KEY = "-----BEGIN PRIVATE KEY----- of the site";

let databases: TestDatabases;
let folder: string;
let source: { db: Database; socket: DatabaseSocket };
let file: string;
let caPin: string;

const urlOf = ({ path, user, password, database }: DatabaseSocket): string =>
  `postgres://${user}:${password}@localhost/${database}?host=${encodeURIComponent(dirname(path))}`;

const options = (more: Partial<BackupOptions>): BackupOptions => ({
  place: null,
  keysDir: join(folder, "keys"),
  out: null,
  file: null,
  withKeys: false,
  passphraseFile: null,
  caPin: null,
  check: false,
  json: false,
  ...more,
});

beforeAll(async () => {
  databases = await startTestDatabases();
  folder = await mkdtemp(join(tmpdir(), "fairlead-backup-"));
  await mkdir(join(folder, "keys"), { mode: 0o700 });
  await writeFile(join(folder, "keys", "online-key.pem"), SECRET_KEY, { mode: 0o600 });
  caPin = (await loadOrCreateSiteCa(join(folder, "keys"), systemClock)).pin;
  await writeFile(join(folder, "passphrase"), "correct horse battery\n", { mode: 0o600 });
  source = await databases.fresh();
  await fill(source.db);
  file = join(folder, "site.fairlead");
  await backup(source, file);
}, 60_000);
afterAll(async () => {
  await databases.stop();
  await rm(folder, { recursive: true, force: true });
});

/** The command itself: it loads the database's driver as the server does. */
async function backup(from: { socket: DatabaseSocket }, out: string, ...more: string[]): Promise<void> {
  const where = ["--database-url", urlOf(from.socket), "--keys-dir", join(folder, "keys")];
  const { code, err } = await fairleadProcess(folder, "backup", "--out", out, ...where, ...more);
  if (code !== 0) throw new FairleadError("ACTION_FAILED", err);
}

const external = ({ socket }: { socket: DatabaseSocket }) =>
  ({ kind: "external", databaseUrl: urlOf(socket) }) as const;

/** Text of every kind that a column may hold, and rows that triggers look at. */
async function fill(db: Database): Promise<void> {
  await db`insert into clusters (id, ca_pin) values (gen_random_uuid(), ${caPin})`;
  await db`
    insert into nodes (id, name, node_type, roles, labels, enrolled_at)
    select gen_random_uuid(), 'n' || n, 'edge', '{core_mesh}', ${db.json({ tab: "a\tb\nc\\d", quote: `'"` })}, now()
    from generate_series(1, ${NODES}) n`;
  // A row that refers to one of its own table, which comes after it.
  await db`update nodes set replaces = (select max(id::text)::uuid from nodes) where id = (select min(id::text)::uuid from nodes)`;
  await db`insert into api_keys (id, name, key_hash, scopes) values (gen_random_uuid(), 'boss', 'hash-1', '{admin}')`;
  await db`
    insert into node_profiles (node_id, chain_profile_id, state)
    select id, profile, case when name like '%2' then 'maintenance' else 'active' end
    from nodes, unnest(array['hello', 'other']) as profile`;
  await db`insert into blobs (digest, bytes) select 'd' || n, decode(repeat('00ff5c0a09', 40000), 'hex') from generate_series(1, 12) n`;
  await db`insert into organizations (name) values ('north')`;
  await db`insert into memberships select n.id, o.id from nodes n, organizations o`;
  await db`insert into policies (kind, name, body) values ('degraded_mode', 'site', '{}')`;
  await db`insert into events (kind, data) select 'test', '{}' from generate_series(1, 50)`;
  await db`insert into node_heartbeats (node_id, received_at, agent_version, applied, programs) select id, now(), '1', '{}', '[]' from nodes`;
}

/** Every row of every table, as text. */
async function contents(db: Database): Promise<Record<string, string[]>> {
  const all: Record<string, string[]> = {};
  for (const { name } of await tablesOf(db)) {
    const rows = await db<{ row: string }[]>`select t::text as row from ${db(name)} t order by 1`;
    all[name] = rows.map(({ row }) => row);
  }
  return all;
}

const restore = (more: Partial<BackupOptions>) => runRestore(options(more), silentLogger);

async function refusal(work: Promise<unknown>): Promise<{ code: string; message: string }> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof FairleadError)) throw new Error(`not refused with a code: ${String(error)}`);
  return { code: error.code, message: error.message };
}

describe("a backup", () => {
  test("USE-5: brings every row back, and the triggers stay silent while it does", async () => {
    const target = await databases.empty();
    const where = ["--database-url", urlOf(target.socket), "--keys-dir", join(folder, "none")];
    where.push("--ca-pin", caPin);
    const { code, out, err } = await fairleadProcess(folder, "restore", file, ...where);
    expect([code, err]).toEqual([0, ""]);
    expect(out.trimEnd().split("\n").at(-1)).toContain("fairlead authority new-epoch");
    const [before, after] = [await contents(source.db), await contents(target.db)];
    // What the fleet knows better is left out.
    const left = new Set(["node_heartbeats", "node_config_state", "node_profiles"]);
    for (const name of Object.keys(before))
      if (!left.has(name)) expect([name, after[name]]).toEqual([name, before[name]]);
    expect(after["nodes"]).toHaveLength(NODES);
    expect(after["node_profiles"]).toHaveLength(2 * NODES);
    expect(after["node_heartbeats"]).toEqual([]);
    expect(await target.db`select 1 from node_profiles where state = 'maintenance'`).toHaveLength(0);
    expect(before["snapshot_dirty"]!.length).toBeGreaterThan(0);
  });

  test("USE-5: after it, triggers work and sequences go on where they were", async () => {
    const target = await databases.empty();
    await restore({ file, place: external(target) });
    const [event] = await target.db<
      { id: number }[]
    >`insert into events (kind, data) values ('test', '{}') returning id`;
    expect(event!.id).toBe(51);
    await target.db`delete from snapshot_dirty`;
    await target.db`update policies set body = '{"a":1}'`;
    expect((await target.db`select 1 from snapshot_dirty`).length).toBeGreaterThan(0);
  });

  test("USE-5: is one file for its owner alone, in small parts, and an existing one is not replaced", async () => {
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const { json } = await restore({ file, check: true });
    const { manifest } = json as { manifest: BackupManifest };
    expect(manifest.tables.find(({ name }) => name === "blobs")!.parts).toBeGreaterThan(1);
    const before = await readFile(file);
    expect((await refusal(backup(source, file))).message).toContain("exists already");
    expect(await readFile(file)).toEqual(before);
  });

  test("USE-5: holds no key unless asked, and then sealed", async () => {
    const sealed = join(folder, "with-keys.fairlead");
    const passphraseFile = join(folder, "passphrase");
    await backup(source, sealed, "--with-keys", "--passphrase-file", passphraseFile);
    for (const each of [file, sealed])
      expect(gunzipSync(await readFile(each)).includes(SECRET_KEY)).toBe(false);

    await writeFile(join(folder, "wrong"), "not the passphrase", { mode: 0o600 });
    const keysDir = join(folder, "restored-keys");
    const target = await databases.empty();
    const wrong = restore({
      file: sealed,
      place: external(target),
      keysDir,
      passphraseFile: join(folder, "wrong"),
    });
    expect((await refusal(wrong)).code).toBe("SITE_PASSPHRASE_WRONG");
    expect(await tablesOf(target.db)).toEqual([]);

    await restore({ file: sealed, place: external(target), keysDir, passphraseFile });
    expect(await readdir(keysDir)).toEqual(["online-key.pem", "site-ca.json"]);
    expect(await readFile(join(keysDir, "online-key.pem"), "utf8")).toBe(SECRET_KEY);
    expect((await stat(join(keysDir, "online-key.pem"))).mode & 0o777).toBe(0o600);

    await writeFile(join(keysDir, "online-key.pem"), "another", { mode: 0o600 });
    const other = await databases.empty();
    const taken = restore({ file: sealed, place: external(other), keysDir, passphraseFile });
    expect((await refusal(taken)).code).toBe("SITE_NOT_EMPTY");
    expect(await readFile(join(keysDir, "online-key.pem"), "utf8")).toBe("another");
  });
});

test("USE-5: what was open when a backup was made is closed when it is restored", async () => {
  const from = await databases.fresh();
  await fill(from.db);
  await from.db`
    insert into enrollment_tokens (secret_hash, node_id, expires_at, used_by_key)
    select name, id, now() + interval '1 day', case when name = 'n1' then 'key' end from nodes where name in ('n1', 'n2')`;
  await from.db`
    insert into webhooks (id, name, url, sealed_secret, events, created_by)
    values (gen_random_uuid(), 'hook', 'https://example.org', '', '{}', 'test')`;
  await from.db`
    insert into webhook_deliveries (id, webhook_id, kind, body, status)
    select gen_random_uuid(), id, status, '{}', status from webhooks, unnest('{pending,delivered}'::text[]) status`;
  await from.db`insert into event_cursors values ('webhooks', 7)`;
  const path = join(folder, "open.fairlead");
  await backup(from, path);

  const { db, socket } = await databases.empty();
  const { text } = await restore({ file: path, place: external({ socket }) });
  expect(text).toContain("Nodes and API keys that were revoked after the backup are not revoked any more");
  expect(await db`select secret_hash from enrollment_tokens`).toEqual([{ secret_hash: "n1" }]);
  expect(await db`select kind, status, last_error from webhook_deliveries order by kind`).toEqual([
    { kind: "delivered", status: "delivered", last_error: null },
    { kind: "pending", status: "failed", last_error: "the site was restored" },
  ]);
  expect(await db`select event_id from event_cursors`).toEqual([{ event_id: 50 }]);
});

test("USE-5: a file that changes after it was checked is not restored", async () => {
  const { manifest } = await checkBackup(file);
  const tar = gunzipSync(await readFile(file));
  tar.write("e", tar.indexOf("00ff5c", tar.indexOf("tables/blobs/")) + 2); // still a row that a table takes
  const changed = join(folder, "changed.fairlead");
  await writeFile(changed, gzipSync(tar));
  const { db } = await databases.empty();
  const { code, message } = await refusal(loadSite(db, changed, manifest, 0));
  expect([code, message]).toEqual(["SITE_BACKUP_DAMAGED", expect.stringContaining("the table blobs")]);
  expect(await db`select 1 from nodes`).toHaveLength(0);
  expect(await db`select 1 from clusters`).toHaveLength(0);
});

/** The entries as somebody else might have put them together. */
async function crafted(name: string, change: (entry: Entry) => Entry[]): Promise<string> {
  const path = join(folder, name);
  const changed = async function* (): AsyncGenerator<Entry> {
    for await (const entry of readArchive(file)) yield* change(entry);
  };
  await writeArchive(path, changed());
  return path;
}

/** With one row more in a table, and every sum in the manifest computed anew. */
async function withRow(name: string, table: string, row: string): Promise<string> {
  let bytes = Buffer.alloc(0);
  return crafted(name, (entry) => {
    if (entry.name === MANIFEST_ENTRY) {
      const manifest = JSON.parse(entry.bytes.toString()) as BackupManifest;
      const tables = manifest.tables.map((each) =>
        each.name === table
          ? { ...each, parts: 1, rows: each.rows + 1, bytes: bytes.length, sha256: sha256Hex(bytes) }
          : each,
      );
      return [{ name: MANIFEST_ENTRY, bytes: Buffer.from(JSON.stringify({ ...manifest, tables })) }];
    }
    if (entry.name !== `tables/${table}/000000`) return [entry];
    bytes = Buffer.concat([entry.bytes, Buffer.from(row)]);
    return [{ ...entry, bytes }];
  });
}

describe("a backup that is not whole is refused, and nothing is written", () => {
  async function refusedAs(bytes: Buffer): Promise<string> {
    const broken = join(folder, "broken.fairlead");
    await writeFile(broken, bytes);
    const target = await databases.empty();
    const { code } = await refusal(restore({ file: broken, place: external(target) }));
    expect(await tablesOf(target.db)).toEqual([]);
    return code;
  }

  test("USE-5: cut short, anywhere", async () => {
    const bytes = await readFile(file);
    for (const part of [0, 10, 0.3, 0.9])
      expect(await refusedAs(bytes.subarray(0, part < 1 ? bytes.length * part : part))).toBe(
        "SITE_BACKUP_DAMAGED",
      );
    expect(await refusedAs(bytes.subarray(0, -1))).toBe("SITE_BACKUP_DAMAGED");
  });

  test("USE-5: with one byte changed under a good compression sum", async () => {
    const tar = gunzipSync(await readFile(file));
    for (const at of [tar.indexOf("tables/blobs/") + 600, tar.indexOf('"cluster_id"') - 20, 20]) {
      const changed = Buffer.from(tar);
      changed[at]! ^= 1;
      expect(await refusedAs(gzipSync(changed))).toBe("SITE_BACKUP_DAMAGED");
    }
  });

  test("USE-5: with a table too few, or something else instead", async () => {
    const tar = gunzipSync(await readFile(file));
    const at = tar.lastIndexOf("manifest.json");
    expect(await refusedAs(gzipSync(Buffer.concat([tar.subarray(0, at), Buffer.alloc(1024)])))).toBe(
      "SITE_BACKUP_DAMAGED",
    );
    expect(await refusedAs(gzipSync(tar.subarray(512 * 4)))).toBe("SITE_BACKUP_DAMAGED");
    expect(await refusedAs(Buffer.from("not a backup"))).toBe("SITE_BACKUP_DAMAGED");
  });

  test("USE-5: with more after its end than the zeros that a tar ends in", async () => {
    const tar = gunzipSync(await readFile(file));
    const padded = join(folder, "padded.fairlead");
    await writeFile(padded, gzipSync(Buffer.concat([tar, Buffer.alloc(9 * 1024)])));
    expect((await restore({ file: padded, check: true })).text).toContain("is whole");
    for (const more of [Buffer.alloc(1024 * 1024), Buffer.from("more")])
      expect(await refusedAs(gzipSync(Buffer.concat([tar, more])))).toBe("SITE_BACKUP_DAMAGED");
  });

  test("USE-5: with parts out of order", async () => {
    const path = await crafted("order.fairlead", (entry) =>
      entry.name === "tables/blobs/000000" ? [{ ...entry, name: "tables/blobs/000007" }] : [entry],
    );
    expect(await refusedAs(await readFile(path))).toBe("SITE_BACKUP_DAMAGED");
  });

  test("USE-5: with an admin key injected and every sum computed anew", async () => {
    const row = `${randomUUID()}\tmallory\thash\t{admin}\t2026-01-01\t\\N\n`;
    const path = await withRow("injected.fairlead", "api_keys", row);
    expect(await refusedAs(await readFile(path))).toBe("SITE_BACKUP_DAMAGED");
    const passphraseFile = join(folder, "passphrase");
    const { code, message } = await refusal(restore({ file: path, check: true, passphraseFile }));
    expect([code, message]).toEqual(["SITE_BACKUP_DAMAGED", expect.stringContaining("its signature")]);
  });

  test("USE-5: without its signature, with two, or with an entry after it", async () => {
    const without = await crafted("unsigned.fairlead", (entry) =>
      entry.name === SIGNATURE_ENTRY ? [] : [entry],
    );
    const twice = await crafted("twice.fairlead", (entry) =>
      entry.name === SIGNATURE_ENTRY ? [entry, entry] : [entry],
    );
    const after = await crafted("after.fairlead", (entry) =>
      entry.name === SIGNATURE_ENTRY ? [entry, { name: KEYS_ENTRY, bytes: Buffer.from("{}") }] : [entry],
    );
    for (const path of [without, twice, after])
      expect(await refusedAs(await readFile(path))).toBe("SITE_BACKUP_DAMAGED");
  });

  test("USE-5: with a signature that is cut, empty or of other bytes", async () => {
    for (const spoil of [
      (bytes: Buffer) => bytes.subarray(0, 40),
      () => Buffer.from("{}"),
      (bytes: Buffer) => {
        const signed = JSON.parse(bytes.toString()) as { signature: string };
        return Buffer.from(JSON.stringify({ ...signed, signature: Buffer.alloc(64, 1).toString("base64") }));
      },
    ]) {
      const path = await crafted("spoiled.fairlead", (entry) =>
        entry.name === SIGNATURE_ENTRY ? [{ ...entry, bytes: spoil(entry.bytes) }] : [entry],
      );
      expect(await refusedAs(await readFile(path))).toBe("SITE_BACKUP_DAMAGED");
      await rm(path);
    }
  });

  test("USE-5: with key files that nobody sealed", async () => {
    const notSealed = Buffer.from('{"kdf":"none"}');
    const path = await crafted("not-sealed.fairlead", (entry) => {
      if (entry.name !== MANIFEST_ENTRY) return [entry];
      const manifest = JSON.parse(entry.bytes.toString()) as BackupManifest;
      const bytes = Buffer.from(JSON.stringify({ ...manifest, keys: sha256Hex(notSealed) }));
      return [
        { name: KEYS_ENTRY, bytes: notSealed },
        { name: MANIFEST_ENTRY, bytes },
      ];
    });
    const passphraseFile = join(folder, "passphrase");
    const { code } = await refusal(restore({ file: path, check: true, passphraseFile }));
    expect(code).toBe("SITE_BACKUP_DAMAGED");
  });
});

describe("a backup whose writer is not known is refused, and nothing is written", () => {
  async function refusedWith(path: string, more: Partial<BackupOptions>): Promise<string> {
    const target = await databases.empty();
    const { code } = await refusal(restore({ file: path, place: external(target), ...more }));
    expect(await tablesOf(target.db)).toEqual([]);
    return code;
  }

  /** Whole, and signed by a CA of the attacker's own. */
  async function ofAnotherSite(): Promise<{ path: string; keysDir: string; pin: string }> {
    const keysDir = join(folder, "other-keys");
    const { pin } = await loadOrCreateSiteCa(keysDir, systemClock);
    const other = await databases.fresh();
    await fill(other.db);
    await other.db`update clusters set ca_pin = ${pin}`;
    const path = join(folder, "other.fairlead");
    await rm(path, { force: true });
    await backup(other, path, "--keys-dir", keysDir);
    return { path, keysDir, pin };
  }

  test("USE-5: without a keys folder, a passphrase or a pin there is nothing to compare its signer with", async () => {
    const keysDir = join(folder, "none");
    expect(await refusedWith(file, { keysDir })).toBe("SITE_BACKUP_UNTRUSTED");
    const { text, json } = await restore({ file, keysDir, check: true });
    expect([text, json]).toEqual([
      expect.stringContaining("was not compared"),
      expect.objectContaining({ authenticated: false, ca_pin: caPin }),
    ]);
    const target = await databases.empty();
    await restore({ file, place: external(target), keysDir, caPin });
    expect(await target.db`select 1 from nodes`).toHaveLength(NODES);
  });

  test("USE-5: signed by the CA of another site, whichever way this one's is known", async () => {
    const { path, keysDir, pin } = await ofAnotherSite();
    expect(await refusedWith(path, {})).toBe("SITE_BACKUP_UNTRUSTED");
    expect(await refusedWith(path, { keysDir: join(folder, "none"), caPin })).toBe("SITE_BACKUP_UNTRUSTED");
    expect(await refusedWith(path, { keysDir, caPin })).toBe("SITE_BACKUP_UNTRUSTED");
    expect((await refusal(restore({ file: path, check: true, caPin }))).code).toBe("SITE_BACKUP_UNTRUSTED");
    expect((await restore({ file: path, keysDir, check: true, caPin: pin })).json).toMatchObject({
      authenticated: true,
    });
  });

  test("USE-5: with the sealed key files of one site beside the tables of another", async () => {
    const sealed = join(folder, "sealed-own.fairlead");
    const passphraseFile = join(folder, "passphrase");
    await rm(sealed, { force: true });
    await backup(source, sealed, "--with-keys", "--passphrase-file", passphraseFile);
    const { keysDir, pin } = await ofAnotherSite();
    const root = (await readSiteRoot(keysDir))!;
    // The attacker has no passphrase, and signs another manifest with a CA of his own around our sealed keys.
    const path = join(folder, "resigned.fairlead");
    await writeArchive(
      path,
      (async function* (): AsyncGenerator<Entry> {
        for await (const entry of readArchive(sealed)) {
          if (entry.name === SIGNATURE_ENTRY) continue;
          yield entry;
          if (entry.name === MANIFEST_ENTRY)
            yield { name: SIGNATURE_ENTRY, bytes: signManifest(root, entry.bytes) };
        }
      })(),
    );
    expect(await refusedWith(path, { keysDir: join(folder, "none"), passphraseFile })).toBe(
      "SITE_BACKUP_UNTRUSTED",
    );
    expect(pin).not.toBe(caPin);
  });

  test("USE-5: a backup is not written with the CA of another site than the database's", async () => {
    const { keysDir } = await ofAnotherSite();
    const out = join(folder, "mixed.fairlead");
    expect((await refusal(backup(source, out, "--keys-dir", keysDir))).message).toContain(
      "the keys folder is of another site",
    );
    expect((await refusal(backup(source, out, "--keys-dir", join(folder, "none")))).message).toContain(
      "lacks site-ca.json",
    );
    await expect(stat(out)).rejects.toThrow("ENOENT");
  });
});

describe("a place that is not for it is refused", () => {
  test("USE-5: a database that holds a site keeps it", async () => {
    const target = await databases.fresh();
    await target.db`insert into clusters (id) values ('7b2c9d8e-0000-4000-8000-000000000001')`;
    const { code, message } = await refusal(restore({ file, place: external(target) }));
    expect([code, message.includes("7b2c9d8e-0000-4000-8000-000000000001")]).toEqual([
      "SITE_NOT_EMPTY",
      true,
    ]);
    expect(await target.db`select 1 from nodes`).toHaveLength(0);
  });

  test("USE-5: a database of something else keeps that", async () => {
    const target = await databases.empty();
    await target.db`create table invoices (id int)`;
    const { code, message } = await refusal(restore({ file, place: external(target) }));
    expect([code, message.includes("invoices")]).toEqual(["SITE_NOT_EMPTY", true]);
  });

  test("USE-5: a backup of other migrations is left to the version that wrote it", async () => {
    const older = await databases.fresh();
    await fill(older.db);
    await older.db`delete from migrations where name = (select max(name) from migrations)`;
    const path = join(folder, "older.fairlead");
    await backup(older, path);
    const target = await databases.empty();
    expect((await refusal(restore({ file: path, place: external(target) }))).code).toBe("SITE_BACKUP_LEVEL");
    expect(await tablesOf(target.db)).toEqual([]);
  });
});
