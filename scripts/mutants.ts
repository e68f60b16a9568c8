// `npm run mutants`: changes guarded lines one at a time and runs the test that must notice each change. Not part of CI.
//
//   npm run mutants                              every change of the table
//   npm run mutants -- --layer sql --json        one layer; one JSON object on standard output
//   npm run mutants -- --only sql-claim-owner    one change
//
// 1. Changes are made in a temporary clone of HEAD, never in the working tree.
// 2. A change is noticed when a test of its file fails that passes without the change. A file that cannot be loaded, a
//    run without results and a hang prove nothing: they are broken entries.
// 3. A text that is not found exactly once is a stale entry and a failure.
// 4. A survivor is accepted only with a written explanation in the table.
// 5. Nothing stays behind, also after Ctrl-C: no clone, and no process of a test.

import { execFileSync } from "node:child_process";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { LAYERS, type Layer, type Mutant } from "./mutants/mutant.ts";
import { mutated } from "./mutants/mutated.ts";
import { runTestFile, type TestRun } from "./mutants/run-test-file.ts";
import { MUTANTS } from "./mutants/table.ts";
import { inRoot } from "./root.mjs";
import { inStageFolder } from "./test/stage-folder.ts";

const HELP = `Usage: npm run mutants -- [--layer LAYER] [--only ID] [--json]

Changes guarded lines one at a time in a temporary clone of HEAD and runs the test that must notice each change.
Exits 1 when a change survives without an explanation, or when an entry is stale or broken.

Options:
  --layer LAYER   ${LAYERS.join(", ")} (may be repeated)
  --only ID       one entry of the table (may be repeated)
  --json          results and scores as one JSON object

Example:
  npm run mutants -- --layer sql
`;

/** (5) */
class Interrupted extends Error {
  readonly signal: NodeJS.Signals;

  constructor(signal: NodeJS.Signals) {
    super(signal);
    this.signal = signal;
  }
}
const interrupted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.on(signal, () => interrupted.abort(new Interrupted(signal)));

type Outcome = "noticed" | "survived" | "explained" | "stale" | "broken";

interface Result {
  readonly id: string;
  readonly layer: Layer;
  readonly outcome: Outcome;
  /** The failing test titles, or the reason of a failure. */
  readonly detail: readonly string[];
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      layer: { type: "string", multiple: true, default: [] },
      only: { type: "string", multiple: true, default: [] },
      json: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const chosen = MUTANTS.filter(
    ({ id, layer }) =>
      (values.layer.length === 0 || values.layer.includes(layer)) &&
      (values.only.length === 0 || values.only.includes(id)),
  );
  if (chosen.length === 0) {
    process.stderr.write("mutants: no entry has this layer and id; see --help\n");
    return 2;
  }
  const results = await runAll(chosen);
  const scores = LAYERS.map((layer) => scoreOf(layer, results)).filter(({ total }) => total > 0);
  if (values.json) process.stdout.write(`${JSON.stringify({ commit: head(), scores, results }, null, 2)}\n`);
  else for (const { layer, noticed, total } of scores) say(`${layer}: ${noticed} of ${total} noticed`);
  return results.every(({ outcome }) => outcome === "noticed" || outcome === "explained") ? 0 : 1; // (4)
}

async function runAll(mutants: readonly Mutant[]): Promise<Result[]> {
  const unchanged = new Map<string, TestRun>();
  const results: Result[] = [];
  await inStageFolder(async (folder) => {
    const clone = join(folder, "clone");
    execFileSync("git", ["clone", "--quiet", inRoot("."), clone]); // (1)
    symlinkSync(inRoot("node_modules"), join(clone, "node_modules"));
    for (const mutant of mutants) {
      interrupted.signal.throwIfAborted();
      const result = await runOne(clone, mutant, unchanged);
      results.push(result);
      say(`${result.outcome.padEnd(9)} ${mutant.id}: ${result.detail[0] ?? mutant.change}`);
    }
  });
  return results;
}

async function runOne(clone: string, mutant: Mutant, unchanged: Map<string, TestRun>): Promise<Result> {
  const { id, layer } = mutant;
  const end = (outcome: Outcome, ...detail: string[]): Result => ({ id, layer, outcome, detail });
  const path = join(clone, mutant.file);
  const before = readFileSync(path, "utf8");
  const after = mutated(before, mutant);
  if (after.kind === "stale") return end("stale", after.reason); // (3)
  writeFileSync(path, after.text);
  let run: TestRun;
  try {
    run = await runTestFile(clone, mutant, interrupted.signal);
  } finally {
    writeFileSync(path, before);
  }
  if (run.kind === "broken") return end("broken", run.reason); // (2)
  if (run.failed.length === 0)
    return mutant.survives === undefined ? end("survived") : end("explained", mutant.survives);
  const key = `${mutant.project} ${mutant.test} ${mutant.title ?? ""}`;
  const plain = unchanged.get(key) ?? (await runTestFile(clone, mutant, interrupted.signal));
  unchanged.set(key, plain);
  if (plain.kind === "broken") return end("broken", `without the change: ${plain.reason}`);
  const because = run.failed.filter((title) => !plain.failed.includes(title)); // (2)
  return because.length > 0 ? end("noticed", ...because) : end("broken", "the same tests fail without it");
}

/** An explained survivor means the same as the line it replaces: it is left out of the score. */
function scoreOf(layer: Layer, results: readonly Result[]) {
  const counted = results.filter((result) => result.layer === layer && result.outcome !== "explained");
  return {
    layer,
    noticed: counted.filter(({ outcome }) => outcome === "noticed").length,
    total: counted.length,
  };
}

const head = (): string =>
  execFileSync("git", ["rev-parse", "HEAD"], { cwd: inRoot("."), encoding: "utf8" }).trim();

function say(text: string): void {
  process.stderr.write(`mutants: ${text}\n`);
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof Interrupted)) throw error;
  say("interrupted");
  process.exitCode = 128 + constants.signals[error.signal];
}
