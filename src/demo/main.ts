/**
 * `npm run demo`: a control plane, five machines, one signed upgrade, on this computer alone.
 *
 * 1. Everything that is started is recorded first, and stopped at the end, however the end comes.
 * 2. What it reports was read from the running programs.
 */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { guardStreams } from "../host/standard-streams.ts";
import { recordedChildren } from "./children.ts";
import { endCommands } from "./command.ts";
import { stopPrograms } from "./fleet.ts";
import { homeIn, openDemoFolder } from "./folder.ts";
import { runDemo } from "./run-demo.ts";
import { linkCommand, shellEnv } from "./shell-env.ts";

const HELP = `Usage: npm run demo [-- --once] [--json] [--nodes N] [--env]

Starts a control plane and a small fleet on this machine, and rolls version 2 of a program out to it.

Options:
  --once       leave when the rollout has ended; otherwise stay up until Ctrl-C
  --json       the last line on stdout is the result as JSON
  --nodes N    how many machines (default 5)
  --env        print shell variables that point the fairlead command to the demo that runs in another terminal

Examples:
  npm run demo -- --once --json
  eval "$(npm run --silent demo -- --env)"
`;

const clone = fileURLToPath(new URL("../../", import.meta.url));

async function main(): Promise<number> {
  guardStreams(process.stdout, process.stderr);
  const { values } = parseArgs({
    options: {
      once: { type: "boolean" },
      json: { type: "boolean" },
      nodes: { type: "string" },
      env: { type: "boolean" },
      help: { type: "boolean" },
    },
  });
  if (values.help === true) {
    process.stdout.write(HELP);
    return 0;
  }
  const nodes = Number(values.nodes ?? 5);
  if (!Number.isInteger(nodes) || nodes < 1 || nodes > 50) {
    process.stderr.write("--nodes: a whole number from 1 to 50\n");
    return 2;
  }
  const folder = await openDemoFolder(clone);
  const home = homeIn(folder);
  if (values.env === true) return printShellEnv(folder);
  const children = recordedChildren(folder);
  let stopping: Promise<void> | null = null;

  async function cleanUp(): Promise<void> {
    endCommands();
    await children.stopAll();
    await stopPrograms(home, join(folder, "fleet"));
    await rm(folder, { recursive: true, force: true });
  }
  /** A terminal and npm may both pass the same Ctrl-C on: the second one changes nothing. */
  const stop = () => (stopping ??= cleanUp());
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const) {
    process.on(signal, () => void stop().finally(() => process.exit(values.once === true ? code : 0)));
  }

  await children.endLeftovers(); // (1)
  await stopPrograms(home, join(folder, "fleet"));
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    await linkCommand(folder);
    const result = await runDemo({ children, folder, home, nodes, say });
    if (values.json === true) process.stdout.write(`${JSON.stringify(result)}\n`);
    if (values.once !== true) {
      say('demo: for a second terminal, in this folder: eval "$(npm run --silent demo -- --env)"');
      say("demo: Ctrl-C ends everything");
      await forever();
    }
    return result.status === "completed" ? 0 : 1;
  } catch (error) {
    if (stopping === null) throw error;
    return await forever(); // a signal ended the story: its handler leaves
  } finally {
    await stop();
  }
}

async function printShellEnv(folder: string): Promise<number> {
  const lines = await shellEnv(folder);
  if (lines === null) {
    say("no demo runs from this folder; start one in another terminal with: npm run demo");
    return 1;
  }
  process.stdout.write(lines);
  return 0;
}

/** People read this; stdout is the program's. */
function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

const forever = (): Promise<never> => new Promise(() => setInterval(() => undefined, 3_600_000));

process.exitCode = await main().catch((error: unknown) => {
  say(`demo failed: ${error instanceof Error ? error.message : String(error)}`);
  return 1;
});
