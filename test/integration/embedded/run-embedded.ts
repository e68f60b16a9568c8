/** What a server does with the engines, and nothing else: starts them, says so, and stops them at a signal. */
import { createLogger } from "../../../src/host/log.ts";
import { createShutdown } from "../../../src/host/shutdown.ts";
import { startEmbedded } from "../../../src/server/embedded/embedded.ts";

const log = createLogger();
const dataDir = process.argv[2];
if (dataDir === undefined) throw new Error("usage: run-embedded.ts DATA_DIR");
const { onShutdown } = createShutdown({ log });
const embedded = await startEmbedded({ dataDir, log });
onShutdown("embedded", async () => embedded.stop());
console.log(JSON.stringify({ database: embedded.database, processes: embedded.processes() }));
setInterval(() => undefined, 60_000);
