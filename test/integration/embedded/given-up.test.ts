/** A start that is told to leave before it is done (USE-1). */
import { existsSync } from "node:fs";
import { chmod, readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { silentLogger } from "../../../src/host/log.ts";
import { startEngines } from "../../../src/server/engines.ts";
import { parseServerConfig } from "../../../src/server/config.ts";
import { processesAround, temporaryDataDir } from "./support.ts";
import { patiently } from "../../support/patiently.ts";

const MOMENTS: Readonly<Record<string, (engines: string) => boolean>> = {
  "before anything": () => true,
  "while the database's folder is made": (engines) => existsSync(join(engines, "postgres", "data.new")),
  "while PostgreSQL and Restate start": (engines) => existsSync(join(engines, "logs", "restate.log")),
};

test.each(Object.keys(MOMENTS))("USE-1: engines that are given up %s leave nothing", async (moment) => {
  const dataDir = await temporaryDataDir();
  await chmod(dataDir, 0o711); // they stay inside it
  const config = parseServerConfig(["--embedded", "--ephemeral", "--data-dir", dataDir], {});
  if (config === "help") throw new Error("no configuration");
  const giveUp = new AbortController();
  const starting = startEngines(config, silentLogger, giveUp.signal);
  const outcome = expect(starting).rejects.toMatchObject({ code: "NOT_READY" });
  await patiently(() => expect(MOMENTS[moment]!(join(dataDir, "engines"))).toBe(true), 1);
  giveUp.abort();
  await outcome;
  await patiently(async () => expect(await processesAround(dataDir)).toEqual([])); // killed, not yet gone
  expect(await readdir(dataDir)).toEqual([]);
});
