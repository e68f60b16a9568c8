import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { silentLogger } from "../../../src/host/log.ts";
import { isAlive, killProcess, identityOf } from "../../../src/host/process-identity.ts";
import { embeddedProcesses, startEmbedded } from "../../../src/server/embedded/embedded.ts";
import { anyAlive, processesAround, query, startElsewhere, temporaryDataDir } from "./support.ts";
import { patiently } from "../../support/patiently.ts";

async function childrenOf(pid: number): Promise<number[]> {
  const stats = await Promise.all(
    (await readdir("/proc"))
      .filter((name) => /^\d+$/.test(name))
      .map(async (name) => ({
        pid: Number(name),
        stat: await readFile(`/proc/${name}/stat`, "utf8").catch(() => ""),
      })),
  );
  return stats
    .filter(({ stat }) => stat.slice(stat.lastIndexOf(")")).split(" ")[2] === String(pid))
    .map((each) => each.pid);
}

test("after SIGKILL of the parent the engines end by themselves, and the next start finds what was committed", async () => {
  const dataDir = await temporaryDataDir();
  const { child, database, processes } = await startElsewhere(dataDir);
  expect(await embeddedProcesses(dataDir)).toEqual(processes);
  await query(database, async (sql) => sql`create table kept as select 7 as id`);
  child.kill("SIGKILL");
  await once(child, "exit");
  await patiently(() => expect(anyAlive(Object.values(processes))).toBe(false));

  const next = await startEmbedded({ dataDir, log: silentLogger });
  expect(await query(next.database, async (sql) => sql`select id from kept`)).toEqual([{ id: 7 }]);
  await next.stop();
});

test("where the watchdog was killed as well, the next start ends what is left, by identity", async () => {
  const dataDir = await temporaryDataDir();
  const { child, database, processes } = await startElsewhere(dataDir);
  const engines = Object.values(processes);
  const watchdog = (await childrenOf(child.pid ?? 0)).find((pid) =>
    engines.every((engine) => engine.pid !== pid),
  );
  const identity = identityOf(watchdog ?? 0);
  expect(identity && killProcess(identity, "SIGKILL")).toBe("sent");
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(engines.every(isAlive)).toBe(true);

  const next = await startEmbedded({ dataDir, log: silentLogger });
  expect(anyAlive(engines)).toBe(false);
  expect(await query(next.database, async (sql) => sql`select 1 as one`)).toEqual([{ one: 1 }]);
  await next.stop();
  await patiently(async () => expect(await processesAround(dirname(dirname(database.path)))).toEqual([]));
});
