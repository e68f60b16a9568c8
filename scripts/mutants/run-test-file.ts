/** One vitest run of one file in the clone, ended with its whole process group when it hangs. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
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
): Promise<TestRun> {
  const file = join(clone, "mutants-report.json");
  rmSync(file, { force: true });
  const only = title === undefined ? [] : ["-t", title];
  const ended = await vitest(clone, ["run", "--project", project, test, ...only, `--outputFile=${file}`]);
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

function vitest(clone: string, args: readonly string[]): Promise<"ended" | "hung"> {
  const child = spawn(
    process.execPath,
    [join(clone, "node_modules/vitest/vitest.mjs"), ...args, "--reporter=json"],
    { cwd: clone, stdio: "ignore", detached: true },
  );
  return new Promise((done, reject) => {
    let hung = false;
    const timer = setTimeout(() => {
      hung = true;
      process.kill(-child.pid!, "SIGKILL");
    }, RUN_TIMEOUT_MS);
    child.once("error", reject);
    child.once("close", () => {
      clearTimeout(timer);
      done(hung ? "hung" : "ended");
    });
  });
}
