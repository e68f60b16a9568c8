/**
 * `npm run bench`: the benchmarks of this repository, one after the other.
 *
 * 1. stdout has the results and nothing else; with `--json`, one line for each benchmark.
 * 2. The exit code says whether everything could be measured, never whether a number was reached: machines differ.
 */
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { createLogger } from "../src/host/log.ts";
import { createShutdown } from "../src/host/shutdown.ts";
import { BENCHMARKS, type Entry } from "./catalog.ts";
import { lineOf, textOf } from "./support/measurement.ts";
import { withWorkplace } from "./support/workplace.ts";

const HELP = `Usage: npm run bench [-- ID...] [--json] [--nodes N] [--cpu-prof DIR]

Measures Fairlead beside a peer and a limit, in one run on this machine. All of it stays on loopback.

${BENCHMARKS.map(({ id, title }) => `  ${id.padEnd(4)} ${title}`).join("\n")}

Options:
  --json           one JSON line for each benchmark on stdout
  --nodes N        nodes of P1, P4, P7 and GRID (default 10000)
  --cpu-prof DIR   the server writes a CPU profile there (P1, P2, P7)

Example:
  npm run bench -- P2 --json
`;

const CLEANUP_TIMEOUT_MS = 60_000;

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      json: { type: "boolean", default: false },
      nodes: { type: "string", default: "10000" },
      "cpu-prof": { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const nodes = Number(values.nodes);
  if (!Number.isInteger(nodes) || nodes < 1 || nodes > 15_000)
    throw new Error("--nodes: a number from 1 to 15000");
  const chosen = choose(positionals);
  const profile = values["cpu-prof"];
  const options = { nodes, cpuProfileDir: profile === undefined ? null : resolve(profile) };
  const shutdown = createShutdown({
    log: createLogger({ level: "error" }),
    cleanupTimeoutMs: CLEANUP_TIMEOUT_MS,
  });
  let failed = 0;
  for (const entry of chosen) {
    if (shutdown.signal.aborted) break;
    try {
      const { run } = await entry.load();
      const measured = await withWorkplace(shutdown, options, run);
      process.stdout.write(values.json ? `${lineOf(entry.id, measured)}\n` : `${textOf(entry, measured)}\n`);
    } catch (error) {
      failed += 1;
      if (!shutdown.signal.aborted)
        process.stderr.write(`bench: ${entry.id} could not be measured: ${String(error)}\n`);
    }
  }
  await shutdown.shutdown("done");
  return failed === 0 ? 0 : 1;
}

function choose(ids: readonly string[]): readonly Entry[] {
  const unknown = ids.find((id) => !BENCHMARKS.some((entry) => entry.id === id));
  if (unknown !== undefined)
    throw new Error(`no benchmark ${unknown}; there are ${BENCHMARKS.map((entry) => entry.id).join(", ")}`);
  return ids.length === 0 ? BENCHMARKS : BENCHMARKS.filter((entry) => ids.includes(entry.id));
}

process.exitCode = await main().catch((error: unknown) => {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`);
  return 2;
});
