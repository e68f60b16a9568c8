/**
 * Takes away whatever a stage of the tests left on the machine, however it ended: `sweep.ts FOLDER`. Started by the test runner
 * after each stage.
 *
 * 1. Processes, mounts and labs belong to the stage when they name its folder; hosts, when no living process made them.
 * 2. Nothing of another stage or run is touched.
 */
import { mountsUnder, removeLeftOverLabs, unmount } from "./docker/left-over.ts";
import { removeLeftOverHosts } from "./hosts/hosts.ts";
import { killHard, processesAround } from "./lab/processes.ts";

const [folder] = process.argv.slice(2);
if (folder === undefined || !folder.startsWith("/")) throw new Error("usage: sweep.ts FOLDER");

process.env["TMPDIR"] = folder; // labs of containers lie in it
const ended = [];
// A process that is killed may have started another one meanwhile.
for (let left = await processesAround([folder]); left.length > 0; left = await processesAround([folder])) {
  ended.push(...left.map(({ command }) => command));
  await Promise.all(left.map(async ({ identity }) => killHard(identity)));
}
await removeLeftOverLabs();
await removeLeftOverHosts();
for (const path of await mountsUnder(folder)) await unmount(path);
for (const command of ended) process.stderr.write(`fairlead: ended ${command.slice(0, 150)}\n`);
