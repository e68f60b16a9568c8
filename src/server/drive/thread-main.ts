/**
 * The drive worker (ADR 15): its messages reach the thread that started it in the order of the commits.
 * The driver is corrected before anything here imports it.
 */
import { enableCompileCache } from "node:module";
import { dirname } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { FairleadError, unreachable } from "../../core/errors.ts";
import { machineClock } from "../../host/clock.ts";
import { createLogger } from "../../host/log.ts";
import { createClockGate } from "../clock/gate.ts";
import { loadDriverCorrected } from "../db/driver-fix.ts";
import { memoryOf } from "../rollout/parcel.ts";
import type { RunningDrive } from "./drive.ts";
import type { DriveSettings, FromThread, ThreadData, ToThread } from "./thread-messages.ts";

const port = parentPort!;
const say = (message: FromThread, memory: ArrayBuffer[] = []): void => port.postMessage(message, memory);

const { compileCache } = workerData as ThreadData;
if (compileCache !== null) enableCompileCache(dirname(compileCache));
loadDriverCorrected();
const loading = Promise.all([
  import("../db/database.ts"),
  import("../identity/signing.ts"),
  import("../keys/signer-store.ts"),
  import("../metrics/rollout-metrics.ts"),
  import("./drive.ts"),
]);

/** Steps of one thread follow each other, and the sweep and the nudges are small. */
const POOL_MAX = 6;

async function start(settings: DriveSettings): Promise<RunningDrive> {
  const [{ openDatabase }, { createSigning }, { fileSigners }, { countsOfStep }, { startDrive }] =
    await loading;
  const { database, address, handlers, clusterId, keysDir, logLevel, from, clock } = settings;
  const log = createLogger({ level: logLevel, bindings: { part: "server" } });
  const db = openDatabase({ ...database, poolMax: POOL_MAX }, log);
  const drive = await startDrive({
    db,
    address,
    authority: createSigning(fileSigners(keysDir), clusterId, createClockGate(machineClock, clock)),
    handlers,
    onCommitted: (step) => say({ kind: "counts", counts: countsOfStep(step) }),
    handOver: { from, deliver: (parcels) => say({ kind: "parcels", parcels }, memoryOf(parcels)) },
    log,
  });
  return {
    ...drive,
    async stop() {
      await drive.stop();
      await db.end({ timeout: 5 });
    },
  };
}

let running: Promise<RunningDrive> | undefined;

async function hear(message: ToThread): Promise<void> {
  switch (message.kind) {
    case "start":
      running = start(message.settings);
      await running;
      return say({ kind: "started" });
    case "answers": {
      const drive = await running;
      return say({ kind: "answer", id: message.id, answers: (await drive?.answers()) ?? false });
    }
    case "stop":
      await running?.then(
        (drive) => drive.stop(),
        () => undefined, // it was refused, and that was said
      );
      process.exit(0); // the thread, not the process: idle connections would keep it for a minute
      break;
    default:
      return unreachable(message);
  }
}

port.on("message", (message: ToThread) => {
  hear(message).catch((error: unknown) => {
    const code = error instanceof FairleadError ? error.code : null;
    say({ kind: "refused", code, message: error instanceof Error ? error.message : String(error) });
  });
});
