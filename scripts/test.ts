// `npm test`: every check there is, in order, and a last line that counts them.
//
//   npm test                        all stages
//   npm test -- unit browser        only these
//   npm test -- unit -- -t "title"  what follows a second `--` goes to vitest
//   npm run check                   the stages that start no service
//
// 1. A failing stage does not hide the ones behind it.
// 2. Nothing passes by not running: no tests found is a failure, and so is a skipped test under CI=true.
// 3. The very last line on stdout is `N passed, N failed, N skipped`.
// 4. What the machine lacks is installed beside the stages that do not need it.
// 5. Nothing stays behind, also after Ctrl-C and where stdout is closed early (`npm test | head`).

import { ensureMachineParts } from "./test/machine-parts.ts";
import { report } from "./test/report.ts";
import type { Counts, Outcome } from "./test/report.ts";
import { isStageName, STAGES } from "./test/stages.ts";
import type { Stage } from "./test/stages.ts";

const inCi = process.env["CI"] === "true";

// Ctrl-C means the whole run, while the stage that is running gets it as well and ends as failed.
let isInterrupted = false;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.on(signal, () => (isInterrupted = true));
// A reader that has seen enough, such as `head`, means the same.
process.stdout.on("error", () => (isInterrupted = true));

async function main(args: string[]): Promise<number> {
  const split = args.includes("--") ? args.indexOf("--") : args.length;
  const stages = chooseStages(args.slice(0, split));
  const missing = ensureMachineParts(stages.flatMap((stage) => stage.machineParts)); // (4)
  missing.catch(() => undefined); // told by the first stage that needs one
  const outcomes: Outcome[] = [];
  for (const together of inOrder(stages)) {
    if (isInterrupted) break;
    outcomes.push(
      ...(await Promise.all(together.map((stage) => runStage(stage, missing, args.slice(split + 1))))),
    );
  }
  return report(outcomes, inCi);
}

/** Stages one after the other, but for those that run beside the one before them. */
function inOrder(stages: readonly Stage[]): Stage[][] {
  const groups: Stage[][] = [];
  for (const stage of stages) {
    if (stage.beside === true && groups.length > 0) groups.at(-1)!.push(stage);
    else groups.push([stage]);
  }
  return groups;
}

function chooseStages(names: string[]): readonly Stage[] {
  if (names.includes("--check")) return STAGES.filter((stage) => !stage.startsServices);
  for (const name of names) {
    if (!isStageName(name)) {
      throw new Error(`no stage "${name}"; there are ${STAGES.map((stage) => stage.name).join(", ")}`);
    }
  }
  return names.length === 0 ? STAGES : STAGES.filter((stage) => names.includes(stage.name));
}

async function runStage(
  stage: Stage,
  missing: Promise<readonly string[]>,
  vitestArgs: string[],
): Promise<Outcome> {
  const began = performance.now();
  process.stdout.write(`\n── ${stage.name}\n`);
  const counts = await runOn(stage, missing, vitestArgs).catch(failed);
  return { stage: stage.name, seconds: (performance.now() - began) / 1000, ...counts };
}

async function runOn(
  stage: Stage,
  missing: Promise<readonly string[]>,
  vitestArgs: string[],
): Promise<Counts> {
  const absent = stage.machineParts.length === 0 ? [] : await missing;
  const lacks = stage.machineParts.filter((part) => absent.includes(part));
  if (lacks.length > 0) throw new Error(`not run: this machine lacks ${lacks.join(", ")}`);
  return stage.run(vitestArgs);
}

const failed = (error: unknown): Counts => ({
  passed: 0,
  failed: 1,
  skipped: 0,
  note: error instanceof Error ? error.message : String(error),
});

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`fairlead: ${error instanceof Error ? error.message : String(error)}\n`);
  process.stdout.write("0 passed, 1 failed, 0 skipped\n");
  process.exitCode = 1;
}
