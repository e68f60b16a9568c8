/** `fairlead agent --config FILE`, and what else a person asks of an agent. */
import { parseArgs } from "node:util";
import { EXIT } from "../core/error-codes.ts";
import { exitCodeOf, FairleadError } from "../core/errors.ts";
import { sleep, systemClock } from "../host/clock.ts";
import { acquireLock, type Lock } from "../host/lock-file.ts";
import { createLogger, type Logger } from "../host/log.ts";
import { createShutdown } from "../host/shutdown.ts";
import { runAgent } from "./agent.ts";
import { type AgentConfig, loadConfig } from "./config.ts";
import { openPrograms } from "./programs/open.ts";
import { shimPrefix } from "./shim-placement.ts";
import { readStatus, statusText } from "./status.ts";
import { ensureDirectory } from "../host/files.ts";

const HELP = `Usage: fairlead agent --config FILE [--status [--json] | --stop-programs]

Runs a node's agent: enrolls it once, then keeps its programs at what was signed for it.

Options:
  --config FILE     the agent's local config (YAML)
  --status          print what this node holds and may do while nobody answers, and leave
  --json            print the status as JSON
  --stop-programs   stop the programs that the config names, and leave; they outlive the agent otherwise
  --version         print the agent's version
  --help            show this

Example:
  fairlead agent --config /etc/fairlead/agent.yaml
  fairlead agent --config /etc/fairlead/agent.yaml --status
`;

const SPACE_RETRY_MS = 2_000;

const OPTIONS = {
  config: { type: "string" },
  status: { type: "boolean" },
  json: { type: "boolean" },
  "stop-programs": { type: "boolean" },
  help: { type: "boolean" },
} as const;

export async function runCommand(argv: string[]): Promise<number> {
  try {
    const { values } = parseArgs({ args: argv, options: OPTIONS });
    if (values.help === true) {
      process.stdout.write(HELP);
      return EXIT.ok;
    }
    if (values.config === undefined) throw new FairleadError("USAGE", "--config FILE is missing");
    if (values["stop-programs"] === true) return await stopPrograms(values.config);
    if (values.status === true) return await printStatus(values.config, values.json === true);
    return await serve(values.config);
  } catch (error) {
    return complain(error);
  }
}

async function serve(configPath: string): Promise<number> {
  const config = await loadConfig(configPath);
  const log = createLogger({ level: config.log_level, bindings: { agent: config.data_dir } });
  const placed = await placedShimCommand(config, log);
  const shutdown = createShutdown({ log });
  const lock = await claimFolder(config.data_dir, log, shutdown.signal);
  if (lock.kind === "held")
    throw new FairleadError("NOT_READY", `another agent (pid ${lock.by.pid}) uses ${config.data_dir}`);
  const running = runAgent({
    config,
    shimCommand: placed,
    clock: systemClock,
    log,
    signal: shutdown.signal,
  });
  shutdown.onShutdown("agent", () => running);
  try {
    await running;
    return EXIT.ok;
  } finally {
    await lock.release();
  }
}

/**
 * On a full disk it waits instead of leaving: systemd gives up a unit that ends five times within ten seconds, and the
 * machine would stay without its agent after somebody has freed the disk.
 */
async function claimFolder(folder: string, log: Logger, signal: AbortSignal): Promise<Lock> {
  for (;;) {
    try {
      await ensureDirectory(folder, 0o700);
      return await acquireLock(folder, "agent");
    } catch (error) {
      if (!(error instanceof FairleadError) || error.code !== "DISK_FULL" || signal.aborted) throw error;
      log.error("the disk is full; waiting for space", {
        folder,
        reason: error.message,
        retryMs: SPACE_RETRY_MS,
      });
      await sleep(SPACE_RETRY_MS, signal);
    }
  }
}

async function printStatus(configPath: string, json: boolean): Promise<number> {
  const status = await readStatus(await loadConfig(configPath), systemClock);
  process.stdout.write(json ? `${JSON.stringify(status)}\n` : statusText(status));
  return EXIT.ok;
}

/** For a machine that leaves the fleet: its programs outlive the agent on purpose, and end only here. */
async function stopPrograms(configPath: string): Promise<number> {
  const config = await loadConfig(configPath);
  const programs = openPrograms(config, shimCommand(), systemClock, createLogger());
  for (const profile of programs.all()) await programs.adapter(profile).stop(new AbortController().signal);
  return EXIT.ok;
}

/** Only programs under a shim of ours would end with the agent: systemd and docker keep their own. */
async function placedShimCommand(config: AgentConfig, log: Logger): Promise<[string, ...string[]]> {
  const isNeeded = Object.values(config.programs).some(({ runtime }) => runtime === "process");
  const [first, ...rest] = [...(isNeeded ? await shimPrefix(log) : []), ...shimCommand()];
  return [first!, ...rest];
}

/** The way this process was started, with the subcommand in place of the rest. */
function shimCommand(): [string, ...string[]] {
  if (isSingleExecutable()) return [process.execPath, "shim"];
  const [node, file, program] = process.argv;
  return [node!, file!, ...(program === "agent" ? ["agent"] : []), "shim"];
}

/** Asked for by name: an import would keep the bundle from telling the user of an old Node what it needs. */
const isSingleExecutable = (): boolean => process.getBuiltinModule("node:sea").isSea();

function complain(error: unknown): number {
  if (error instanceof FairleadError) {
    const { code, message, next } = error.body("node");
    process.stderr.write(`error ${code}: ${message}\nwhat to do: ${next}\n`);
    return exitCodeOf(code);
  }
  const usage = error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
  process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
  return usage ? EXIT.usage : EXIT.failed;
}
