/**
 * One vitest run of one file in the clone, ended with its whole process group when it hangs or the run is interrupted. All
 * that its tests start is ended with it.
 */
import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { inStageFolder, STAGE_FOLDER_VARIABLE } from "../test/stage-folder.ts";
import type { Mutant } from "./mutant.ts";

const RUN_TIMEOUT_MS = 8 * 60_000;

const Report = z.object({
  numTotalTests: z.number(),
  testResults: z.array(
    z.object({
      message: z.string().optional(),
      assertionResults: z.array(z.object({ status: z.string(), fullName: z.string() })),
    }),
  ),
});

export type TestRun =
  | { readonly kind: "ran"; readonly failed: readonly string[] }
  | { readonly kind: "broken"; readonly reason: string };

export async function runTestFile(
  clone: string,
  { project, test, title }: Pick<Mutant, "project" | "test" | "title">,
  interrupted: AbortSignal,
): Promise<TestRun> {
  const file = join(clone, "mutants-report.json");
  rmSync(file, { force: true });
  const only = title === undefined ? [] : ["-t", title];
  const args = ["run", "--project", project, test, ...only, `--outputFile=${file}`];
  const ended = await inStageFolder((folder) => vitest(clone, args, folder, interrupted));
  if (ended === "hung") return { kind: "broken", reason: `no end within ${RUN_TIMEOUT_MS / 60_000} min` };
  if (!existsSync(file)) return { kind: "broken", reason: "vitest wrote no report" };
  const report = Report.parse(JSON.parse(readFileSync(file, "utf8")));
  const results = report.testResults.flatMap(({ assertionResults }) => assertionResults);
  const failed = results.filter(({ status }) => status === "failed").map(({ fullName }) => fullName);
  if (failed.length === 0 && !results.some(({ status }) => status === "passed")) {
    const message = report.testResults.find((each) => each.message !== undefined)?.message ?? "";
    return { kind: "broken", reason: `no test ran: ${message.split("\n")[0]}` };
  }
  return { kind: "ran", failed };
}

function vitest(
  clone: string,
  args: readonly string[],
  folder: string,
  interrupted: AbortSignal,
): Promise<"ended" | "hung"> {
  const child = spawn(
    process.execPath,
    [join(clone, "node_modules/vitest/vitest.mjs"), ...args, "--reporter=json"],
    {
      cwd: clone,
      stdio: "ignore",
      detached: true,
      env: { ...process.env, [STAGE_FOLDER_VARIABLE]: folder },
    },
  );
  return new Promise((done, reject) => {
    let hung = false;
    const kill = (): void => void process.kill(-child.pid!, "SIGKILL");
    const timer = setTimeout(() => {
      hung = true;
      kill();
    }, RUN_TIMEOUT_MS);
    interrupted.addEventListener("abort", kill);
    const stop = (): void => {
      clearTimeout(timer);
      interrupted.removeEventListener("abort", kill);
    };
    child.once("error", (error) => {
      stop();
      reject(error);
    });
    child.once("close", () => {
      stop();
      if (interrupted.aborted) reject(interrupted.reason as Error);
      else done(hung ? "hung" : "ended");
    });
  });
}
