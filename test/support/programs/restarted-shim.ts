/** A shim whose program ended and was started once more, between two looks of the agent; it lives until it is killed. */
import { readFile, rename, writeFile } from "node:fs/promises";
import { Launch, launchPath, statePath, type ShimState } from "../../../src/agent/shim/files.ts";
import { identityOf } from "../../../src/host/process-identity.ts";

const folder = process.argv[2]!;
const restarts = Number(process.env["RESTARTS"] ?? "1");
const launch = Launch.parse(JSON.parse(await readFile(launchPath(folder), "utf8")));
const self = identityOf(process.pid)!;
const at = new Date().toISOString();
const state: ShimState = {
  launch: launch.number,
  status: "running",
  shim: self,
  program: self,
  instance_id: "some.forward.1.1",
  started_at: at,
  fingerprint: launch.fingerprint,
  executable: null,
  restarts,
  restarted_at: Array.from({ length: restarts }, () => at),
  last_exit: restarts === 0 ? null : { code: 7, signal: null, at },
  error: null,
};
await writeFile(`${statePath(folder)}.next`, JSON.stringify(state));
await rename(`${statePath(folder)}.next`, statePath(folder));
setInterval(() => undefined, 60_000);
