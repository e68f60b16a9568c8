// `npm run mutants`: changes lines one at a time and runs the tests that must notice each change. Not part of CI.
//
//   npm run mutants                              the table, then Stryker's mutants of trust, core and agent
//   npm run mutants -- --layer sql --json        one layer; one JSON object on standard output
//   npm run mutants -- --only sql-claim-owner    one change of the table
//   npm run mutants -- --file src/trust/head.ts  Stryker's mutants of one file
//
// 1. Changes of the table are made in a temporary clone of HEAD, never in the working tree. Stryker copies the tree too.
// 2. A change is noticed when a test of its file fails that passes without the change. A file that cannot be loaded, a
//    run without results and a hang prove nothing: they are broken entries.
// 3. A text that is not found exactly once is a stale entry and a failure.
// 4. A survivor is accepted only with a written explanation, in the table or in `mutants/stryker/survivors.ts`.
// 5. Nothing stays behind, also after Ctrl-C: no clone, and no process of a test.

import { execFileSync } from "node:child_process";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { LAYERS, type Layer, type Mutant } from "./mutants/mutant.ts";
import { mutated } from "./mutants/mutated.ts";
import { runTestFile, type TestRun } from "./mutants/run-test-file.ts";
import { STRYKER_LAYERS } from "./mutants/stryker/layers.ts";
import { measureFile, type FileScore } from "./mutants/stryker/measure.ts";
import { MUTANTS } from "./mutants/table.ts";
import { inRoot } from "./root.mjs";
import { inStageFolder } from "./test/stage-folder.ts";

const HELP = `Usage: npm run mutants -- [--table | --stryker] [--layer LAYER] [--only ID] [--file PATH] [--json]

Changes lines one at a time in a copy of the repository and runs the tests that must notice each change: a table of
changes to guarded lines, and every change that Stryker knows for trust, core and the pure files of the agent.
Exits 1 when a change survives without an explanation, or when an entry is stale or broken.

Options:
  --table         only the table
  --stryker       only Stryker; hours for everything, and a second run repeats only what changed since
  --layer LAYER   ${LAYERS.join(", ")} (may be repeated)
  --only ID       one entry of the table (may be repeated)
  --file PATH     Stryker's changes to one file (may be repeated)
  --json          results and scores as one JSON object

Example:
  npm run mutants -- --layer sql
  npm run mutants -- --file src/trust/head.ts
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
      table: { type: "boolean", default: false },
      stryker: { type: "boolean", default: false },
      layer: { type: "string", multiple: true, default: [] },
      only: { type: "string", multiple: true, default: [] },
      file: { type: "string", multiple: true, default: [] },
      json: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const inLayer = ({ layer }: { readonly layer: Layer }) =>
    values.layer.length === 0 || values.layer.includes(layer);
  const entries = MUTANTS.filter(inLayer).filter(({ id }) => isChosen(values.only, id));
  const files = STRYKER_LAYERS.filter(inLayer)
    .flatMap(({ layer, files, tests }) => files.map((file) => ({ layer, file, tests })))
    .filter(({ file }) => isChosen(values.file, file));
  const chosen = values.stryker || values.file.length > 0 ? [] : entries;
  const measured = values.table || values.only.length > 0 ? [] : files;
  if (chosen.length + measured.length === 0) {
    process.stderr.write("mutants: no entry or file has this layer, id and path; see --help\n");
    return 2;
  }
  const results = chosen.length === 0 ? [] : await runAll(chosen);
  const stryker = await measureAll(measured);
  report(values.json, results, stryker);
  const accepted = results.every(({ outcome }) => outcome === "noticed" || outcome === "explained"); // (4)
  return accepted && stryker.every(isExplained) ? 0 : 1;
}

const isChosen = (names: readonly string[], name: string): boolean =>
  names.length === 0 || names.includes(name);

function report(json: boolean, results: readonly Result[], stryker: readonly LayerFile[]): void {
  const table = LAYERS.map((layer) => scoreOf(layer, results)).filter(({ total }) => total > 0);
  const files = LAYERS.map((layer) => strykerScoreOf(layer, stryker)).filter(({ files }) => files > 0);
  if (json) {
    const all = {
      commit: head(),
      table: { scores: table, results },
      stryker: { scores: files, files: stryker },
    };
    process.stdout.write(`${JSON.stringify(all, null, 2)}\n`);
    return;
  }
  for (const { layer, noticed, total } of table) say(`${layer}, table: ${noticed} of ${total} noticed`);
  for (const { layer, noticed, total, explained, files: measured } of files)
    say(
      `${layer}, Stryker: ${noticed} of ${total} noticed in ${measured} files; ${explained} more are explained`,
    );
}

interface LayerFile extends FileScore {
  readonly layer: Layer;
}

async function measureAll(
  files: readonly { readonly layer: Layer; readonly file: string; readonly tests: readonly string[] }[],
): Promise<LayerFile[]> {
  const scores: LayerFile[] = [];
  for (const { layer, file, tests } of files) {
    const score = { layer, ...(await measureFile(file, tests)) };
    scores.push(score);
    say(`${file}: ${score.noticed} of ${score.noticed + score.survived.length} noticed`);
    for (const { at, was, becomes, because } of score.survived)
      say(`  ${because === null ? "survived" : "explained"} in line ${at}: ${was} → ${becomes}`);
    for (const { line, was } of score.stale) say(`  stale explanation of ${was} in ${line}`);
  }
  return scores;
}

const isExplained = ({ survived, stale }: FileScore): boolean =>
  stale.length === 0 && survived.every(({ because }) => because !== null);

function strykerScoreOf(layer: Layer, files: readonly LayerFile[]) {
  const ours = files.filter((file) => file.layer === layer);
  const noticed = ours.reduce((sum, file) => sum + file.noticed, 0);
  const survived = ours.flatMap((file) => file.survived);
  const explained = survived.filter(({ because }) => because !== null).length;
  return { layer, files: ours.length, noticed, explained, total: noticed + survived.length - explained };
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
