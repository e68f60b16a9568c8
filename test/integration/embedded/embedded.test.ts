import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, rmdir, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { silentLogger } from "../../../src/host/log.ts";
import { isAlive, killProcess, type ProcessIdentity } from "../../../src/host/process-identity.ts";
import {
  type Embedded,
  embeddedProcesses,
  removeEmbedded,
  startEmbedded,
} from "../../../src/server/embedded/embedded.ts";
import { openHome } from "../../../src/server/embedded/home.ts";
import { anyAlive, listeningPorts, processesAround, query, startElsewhere, statusOf } from "./support.ts";
import { patiently } from "../../support/patiently.ts";

let dataDir: string;
let embedded: Embedded;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "fl-e-"));
  embedded = await startEmbedded({ dataDir, log: silentLogger });
  await query(embedded.database, async (sql) => sql`create table kept (id int primary key)`);
});
afterAll(async () => {
  await embedded.stop();
  await removeEmbedded(dataDir);
  await rm(dataDir, { recursive: true, force: true });
});

const running = (): ProcessIdentity[] => Object.values(embedded.processes());

/** The process that runs in an earlier one's place. */
function another(earlier: ProcessIdentity | undefined): ProcessIdentity {
  const now = embedded.processes().restate;
  if (now === undefined || now.pid === earlier?.pid) throw new Error("no other process yet");
  return now;
}

function nextRestart(): Promise<string> {
  return new Promise((done) => {
    const takeBack = embedded.onRestart((name) => {
      takeBack();
      done(name);
    });
  });
}

test("PostgreSQL answers with fsync on, and Restate's admin and ingress are healthy", async () => {
  const rows = await query(
    embedded.database,
    async (sql) => sql`select current_setting('fsync') as fsync, version()`,
  );
  expect(rows[0]).toMatchObject({ fsync: "on" });
  expect(await statusOf(embedded.restate.admin, "/health")).toBe(200);
  expect(await statusOf(embedded.restate.ingress, "/restate/health")).toBe(200);
  expect(embedded.restate.publicIdentity).toMatch(/^publickeyv1_[1-9A-HJ-NP-Za-km-z]{32,44}$/);
});

test("neither engine listens on a TCP port, and their sockets lie in folders that nobody else may enter", async () => {
  for (const identity of running()) expect(await listeningPorts(identity)).toEqual([]);
  for (const socket of [
    embedded.database.path,
    embedded.restate.admin.socketPath,
    embedded.restate.ingress.socketPath,
  ]) {
    expect((await stat(socket)).isSocket()).toBe(true);
    expect((await stat(dirname(socket))).mode & 0o777).toBe(0o700);
    expect(Buffer.byteLength(socket)).toBeLessThan(108);
  }
});

test("the database takes its own password and refuses another", async () => {
  const wrong = query({ ...embedded.database, password: "guessed" }, async (sql) => sql`select 1`);
  await expect(wrong).rejects.toMatchObject({ code: "28P01" });
  const file = join(dirname(dirname(embedded.database.path)), "postgres-password");
  expect(await readFile(file, "utf8")).toBe(embedded.database.password);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test("a second process on the same data folder is refused", async () => {
  await expect(startEmbedded({ dataDir, log: silentLogger })).rejects.toMatchObject({
    code: "DATA_DIR_IN_USE",
  });
  await expect(startElsewhere(dataDir)).rejects.toThrow("is in use by the process");
});

test("PostgreSQL comes back after SIGKILL with what was committed", async () => {
  await query(embedded.database, async (sql) => sql`insert into kept values (1)`);
  const restarted = nextRestart();
  const killed = embedded.processes().postgres;
  expect(killed && killProcess(killed, "SIGKILL")).toBe("sent");
  expect(await restarted).toBe("postgres");
  expect(embedded.processes().postgres).not.toEqual(killed);
  expect(await query(embedded.database, async (sql) => sql`select id from kept`)).toEqual([{ id: 1 }]);
});

test("Restate comes back after SIGKILL, also when its data folder was deleted", async () => {
  for (const wipe of [false, true]) {
    if (wipe) await rm(embedded.restate.dataDir, { recursive: true });
    const restarted = nextRestart();
    const killed = embedded.processes().restate;
    expect(killed && killProcess(killed, "SIGKILL")).toBe("sent");
    expect(await restarted).toBe("restate");
    expect(await statusOf(embedded.restate.admin, "/health")).toBe(200);
    expect(await statusOf(embedded.restate.ingress, "/restate/health")).toBe(200);
  }
});

test("a disk that refuses one record of the processes keeps no program down", async () => {
  const record = join((await openHome(dataDir)).path, "children.json");
  await rm(record);
  await mkdir(record); // in its way
  const restarted = nextRestart();
  const killed = embedded.processes().restate;
  expect(killed && killProcess(killed, "SIGKILL")).toBe("sent");
  const refused = await patiently(() => another(killed));
  await patiently(() => another(refused)); // the record of the one before has failed
  expect(isAlive(refused)).toBe(false);
  await rmdir(record);
  expect(await restarted).toBe("restate");
  expect(await embeddedProcesses(dataDir)).toEqual(embedded.processes());
});

test("stop leaves nothing running or listening, and the next start finds the data", async () => {
  const home = dirname(dirname(embedded.database.path));
  const before = running();
  expect(before.every(isAlive)).toBe(true);
  await embedded.stop();
  expect(anyAlive(before)).toBe(false);
  await patiently(async () => expect(await processesAround(home)).toEqual([]));
  await expect(stat(embedded.database.path)).rejects.toThrow("ENOENT");
  await expect(statusOf(embedded.restate.admin, "/health")).rejects.toMatchObject({ code: "UNREACHABLE" });

  embedded = await startEmbedded({ dataDir, log: silentLogger });
  expect(await query(embedded.database, async (sql) => sql`select id from kept`)).toEqual([{ id: 1 }]);
});

test("SIGTERM to a process that runs the engines stops both", async () => {
  const other = await mkdtemp(join(tmpdir(), "fl-e-"));
  const { child, processes } = await startElsewhere(other);
  child.kill("SIGTERM");
  await once(child, "exit");
  expect(child.exitCode).toBe(143);
  expect(anyAlive(Object.values(processes))).toBe(false);
  await removeEmbedded(other);
  await rm(other, { recursive: true, force: true });
});
