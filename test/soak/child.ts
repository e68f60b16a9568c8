/** The soak of `main.ts`, in a process that may be ended at any moment: `child.ts OPTIONS`. */
import { join } from "node:path";
import { inRoot } from "../../scripts/root.mjs";
import type { CommandLine } from "./options.ts";
import type { Round } from "./plan.ts";
import type { Day } from "./day.ts";
import { soak } from "./soak.ts";
import { dayLine } from "./tell.ts";

const { json, ...asked } = JSON.parse(process.argv[2]!) as CommandLine;
const say = (line: string): void => void (json ? process.stderr : process.stdout).write(`${line}\n`);
const lived: object[] = [];

function onDay(round: Round, day: Day): void {
  const { version, ending, caughtUp: caught_up, seconds } = day;
  lived.push({ ...round, version, ending, caught_up, seconds });
  say(dayLine(round, day));
}

say(`seed ${asked.seed}: ${asked.rounds} rounds on ${asked.hosts} hosts`);
const logsTo = inRoot(join(".cache", "soak", `seed-${asked.seed}`));
let failure: string | null = null;
let incidents: Readonly<Record<string, number>> = {};
try {
  const onReady = (seconds: number): void => say(`ready after ${seconds.toFixed(1)} s`);
  const { seconds, open } = await soak({ ...asked, logsTo, onReady, onDay });
  incidents = open;
  const told = Object.entries(open).map(([category, count]) => `${count} ${category}`);
  say(`incidents left for people: ${told.join(", ") || "none"}`);
  say(`seed ${asked.seed}: every node runs what its operator wants, after ${seconds.toFixed(0)} s`);
} catch (error) {
  failure = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${failure}\n`);
  process.exitCode = 1;
}
if (json) process.stdout.write(`${JSON.stringify({ ...asked, days: lived, incidents, failure })}\n`);
