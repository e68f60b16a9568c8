/** A snapshot store in a process of its own, to be killed: takes one frame in and stops for ever at one operation. */
import { readFile } from "node:fs/promises";
import { Identity } from "../../../src/agent/identity/store.ts";
import { openSnapshotStore } from "../../../src/agent/snapshots/store.ts";
import { trippingFileSystem } from "./tripping-file-system.ts";

export interface SnapshotChildSpec {
  readonly folder: string;
  readonly identity: unknown;
  readonly now: number;
  readonly kind: "snapshot" | "increment";
  readonly frame: string;
  /** Stops before the operation with this number, among those that change what another process sees. */
  readonly stopBefore: number;
}

/** What was never synced is lost with the power, not with a process. */
const isSync = (operation: string): boolean => operation.startsWith("sync ");

async function main(path: string): Promise<void> {
  const spec = JSON.parse(await readFile(path, "utf8")) as SnapshotChildSpec;
  let opened = false;
  let count = 0;
  const fs = trippingFileSystem(async (operation) => {
    if (!opened || isSync(operation) || count++ !== spec.stopBefore) return;
    process.stdout.write("there\n");
    await new Promise(() => setInterval(() => undefined, 60_000));
  });
  const clock = { now: () => spec.now, monotonic: () => 0 };
  const store = await openSnapshotStore(spec.folder, Identity.parse(spec.identity), clock, fs);
  opened = true;
  const frame = Buffer.from(spec.frame, "base64");
  await (spec.kind === "snapshot" ? store.apply(frame) : store.applyIncrement(frame));
  process.stdout.write("ended\n");
}

await main(process.argv[2]!);
