// One tool, one child process, one verdict.

import { mkdir, readFile, rm } from "node:fs/promises";
import { relative } from "node:path";
import { z } from "zod";
import { inRoot } from "../root.mjs";
import { run } from "../run.mjs";
import type { Counts } from "./report.ts";
import { inStageFolder, STAGE_FOLDER_VARIABLE } from "./stage-folder.ts";

const MESSAGE_CHARS = 1500;

/** The part of vitest's JSON report that is counted. */
const VitestReport = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  numPendingTests: z.number(),
  numTodoTests: z.number(),
  testResults: z
    .array(
      z.object({
        name: z.string(),
        message: z.string().default(""),
        assertionResults: z.array(
          z.object({
            fullName: z.string(),
            status: z.string(),
            failureMessages: z.array(z.string()).default([]),
          }),
        ),
      }),
    )
    .default([]),
});

/** A check that says yes or no counts as one test. */
export async function check(work: () => Promise<void>): Promise<Counts> {
  await work();
  return { passed: 1, failed: 0, skipped: 0 };
}

/** `file` is inside node_modules: scripts are started by path, since a bin name may belong to another package. */
export function tool(file: string, args: readonly string[]): Promise<Counts> {
  return check(async () => {
    const { code, signal } = await runTool(file, args);
    if (code !== 0) throw new Error(`${file} ended with ${signal ?? code}`);
  });
}

export interface VitestOptions {
  /** Names the report: two stages may run tests of one project. */
  readonly report?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export async function vitest(
  project: string,
  args: readonly string[],
  { report = project, env = {} }: VitestOptions = {},
): Promise<Counts> {
  const file = inRoot(`.cache/test/${report}.json`);
  await mkdir(inRoot(".cache/test"), { recursive: true });
  await rm(file, { force: true });
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${file}`];
  const ended = await inStageFolder((folder) =>
    runTool("vitest/vitest.mjs", ["run", `--project=${project}`, ...reporters, ...args], {
      ...env,
      [STAGE_FOLDER_VARIABLE]: folder,
    }),
  );
  return countsOf(await readFile(file, "utf8").catch(() => undefined), ended.code);
}

/**
 * vitest can fail without a failed test (an import that throws, an error nobody awaited, no files at all)
 * and a report can be empty: both count as one failure, so that the total never looks clean.
 */
export function countsOf(reportText: string | undefined, exitCode: number | null): Counts {
  if (reportText === undefined) return { passed: 0, failed: 1, skipped: 0, note: "vitest left no report" };
  const report = VitestReport.parse(JSON.parse(reportText));
  const failures = failuresOf(report);
  const counts = {
    ...(failures.length > 0 && { failures }),
    passed: report.numPassedTests,
    failed: report.numFailedTests,
    skipped: report.numPendingTests + report.numTodoTests,
  };
  if (counts.passed + counts.failed + counts.skipped === 0)
    return { ...counts, failed: 1, note: "no tests found" };
  if (exitCode !== 0 && counts.failed === 0)
    return { ...counts, failed: 1, note: `vitest ended with ${exitCode}` };
  return counts;
}

/** Told again at the very end, where a reader of a long log looks first. */
function failuresOf({ testResults }: z.infer<typeof VitestReport>): string[] {
  const tell = (file: string, title: string, message: string) =>
    `${relative(inRoot("."), file)} > ${title}\n${message.slice(0, MESSAGE_CHARS)}`;
  return testResults.flatMap(({ name, message, assertionResults }) => {
    const failed = assertionResults.filter(({ status }) => status === "failed");
    const told = failed.map((test) => tell(name, test.fullName, test.failureMessages.join("\n")));
    return told.length === 0 && message !== "" ? [tell(name, "(the file itself)", message)] : told;
  });
}

function runTool(file: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  return run(process.execPath, [inRoot(`node_modules/${file}`), ...args], {
    cwd: inRoot("."),
    env: { ...process.env, ...env },
  });
}
