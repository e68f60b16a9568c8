/**
 * Stryker over one file at a time: with a whole layer instrumented, the tests run seven times slower.
 *
 * 1. Stryker changes a copy of the working tree below `.cache/stryker`, never the tree itself.
 * 2. Results are kept there by file: a second run repeats only mutants and tests that changed since.
 * 3. A mutant that stops a test file from loading is left out of the score, as Stryker does.
 */
import { readFileSync } from "node:fs";
import { Stryker } from "@stryker-mutator/core";
import { inRoot } from "../../root.mjs";
import { relatedTests } from "./related-tests.ts";
import { tellSubject } from "./subject.ts";
import { SURVIVORS, type Survivor } from "./survivors.ts";

const FOLDER = ".cache/stryker";
type Options = NonNullable<ConstructorParameters<typeof Stryker>[0]>;
/** Standard output is the report's. */
const QUIET = "error" as NonNullable<Options["logLevel"]>;

export interface SurvivedMutant extends Omit<Survivor, "because"> {
  readonly at: number;
  readonly because: string | null;
}

export interface FileScore {
  readonly file: string;
  /** Killed by a failing test, or by a loop that did not end. */
  readonly noticed: number;
  readonly survived: readonly SurvivedMutant[];
  /** Not in the score: texts for people, and mutants that stop a test file from loading. */
  readonly leftOut: number;
  /** Explanations that fit no survivor. */
  readonly stale: readonly Survivor[];
}

type Results = Awaited<ReturnType<Stryker["runMutationTest"]>>;

export async function measureFile(file: string, tests: readonly string[]): Promise<FileScore> {
  process.env["NODE_COMPILE_CACHE"] ??= inRoot(`${FOLDER}/compiled`); // workers load the same modules for each mutant
  tellSubject({ file, tests: relatedTests(file, tests) });
  const stryker = new Stryker({
    mutate: [file],
    testRunner: "vitest",
    plugins: ["@stryker-mutator/vitest-runner", inRoot("scripts/mutants/stryker/ignore-texts.ts")],
    ignorers: ["texts"],
    vitest: { configFile: "scripts/mutants/stryker/vitest.config.ts", related: false },
    coverageAnalysis: "perTest",
    concurrency: 1,
    timeoutMS: 20_000, // a loaded machine must not pass for a loop that does not end
    tempDirName: `${FOLDER}/sandbox`, // (1)
    ignorePatterns: [".cache", "dist", "docs", "deploy"],
    incremental: true,
    incrementalFile: `${FOLDER}/results/${file}.json`, // (2)
    reporters: [],
    logLevel: QUIET,
    allowConsoleColors: false,
    warnings: false,
  });
  return scoreOf(file, await stryker.runMutationTest());
}

function scoreOf(file: string, results: Results): FileScore {
  const text = readFileSync(inRoot(file), "utf8");
  const explained = SURVIVORS.filter((each) => each.file === file);
  const survived = results
    .filter(({ status }) => status === "Survived" || status === "NoCoverage")
    .map(({ location, replacement }) => {
      const mutant = { file, ...partOf(text, location), becomes: replacement ?? "" };
      const because = explained.find((each) => isSame(each, mutant))?.because ?? null;
      return { ...mutant, at: location.start.line, because };
    });
  const noticed = results.filter(({ status }) => status === "Killed" || status === "Timeout").length;
  return {
    file,
    noticed,
    survived,
    leftOut: results.length - noticed - survived.length, // (3)
    stale: explained.filter((each) => !survived.some((mutant) => isSame(each, mutant))),
  };
}

/** Lines and columns count from 1. */
function partOf(text: string, { start, end }: Results[number]["location"]) {
  const lines = text.split("\n");
  const changed = lines.slice(start.line - 1, end.line);
  const line = changed[0]!.trim();
  const last = changed.length - 1;
  changed[last] = changed[last]!.slice(0, end.column - 1);
  changed[0] = changed[0]!.slice(start.column - 1);
  return { line, was: changed.join("\n") };
}

const isSame = (one: Omit<Survivor, "because">, other: Omit<Survivor, "because">): boolean =>
  one.line === other.line && one.was === other.was && one.becomes === other.becomes;
