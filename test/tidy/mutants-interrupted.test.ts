// `npm run mutants` that is interrupted leaves neither its clone nor a process of a test.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { inRoot } from "../../scripts/root.mjs";
import { eventually } from "../support/lab/eventually.ts";

/** Processes with this parent, by their working directory. */
function childrenOf(parent: number): { readonly pid: number; readonly cwd: string }[] {
  return readdirSync("/proc").flatMap((name) => {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      const ppid = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
      return ppid === parent ? [{ pid: Number(name), cwd: readlinkSync(`/proc/${name}/cwd`) }] : [];
    } catch {
      return []; // no process, or gone meanwhile
    }
  });
}

test.each(["SIGINT", "SIGTERM"] as const)(
  "%s ends the run of mutants with its test process and its clone",
  async (signal) => {
    const runner = spawn(process.execPath, ["scripts/mutants.ts", "--layer", "core"], {
      cwd: inRoot("."),
      stdio: "ignore",
    });
    onTestFinished(() => void runner.kill("SIGKILL"));
    const ended = once(runner, "exit");
    const vitest = await eventually("a test process in the clone", () =>
      childrenOf(runner.pid!).find(({ cwd }) => cwd.endsWith("/clone")),
    );
    runner.kill(signal);
    expect((await ended)[0]).toBe(signal === "SIGINT" ? 130 : 143);
    expect(existsSync(`/proc/${vitest.pid}`)).toBe(false);
    expect(existsSync(vitest.cwd)).toBe(false);
  },
);
