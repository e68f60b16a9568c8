/** The product's own commands, run as a user would run them. */
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { FairleadError } from "../core/errors.ts";
import { minimalEnv, run } from "../host/process.ts";

export const FAIRLEAD = fileURLToPath(new URL("../../bin/fairlead.mjs", import.meta.url));
export const NODE = process.execPath;

const COMMAND_TIMEOUT_MS = 60_000;

const ending = new AbortController();
/** Ends the commands under way; none begins after it. */
export const endCommands = (): void => ending.abort();

export const commandEnv = (home: string): Record<string, string> => ({
  ...minimalEnv(),
  HOME: home,
  FAIRLEAD_HOME: home,
  // Compiled code outlives this run: the next one starts as quickly as any command of this user.
  XDG_CACHE_HOME: process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"),
});

/** Answers with what the command printed as JSON; throws with its own words when it failed. */
export async function fairlead(home: string, args: readonly string[]): Promise<Record<string, unknown>> {
  const result = await run(NODE, [FAIRLEAD, ...args, "--json"], {
    env: commandEnv(home),
    timeoutMs: COMMAND_TIMEOUT_MS,
    signal: ending.signal,
  });
  const what = `fairlead ${args.slice(0, 2).join(" ")}`;
  if (result.kind !== "exited") throw new FairleadError("ACTION_FAILED", `${what}: ${result.kind}`);
  if (result.code !== 0) {
    const said = `${result.stdout.toString("utf8")}\n${result.stderr.toString("utf8")}`.trim().slice(-1000);
    throw new FairleadError("ACTION_FAILED", `${what} left with ${result.code}: ${said}`);
  }
  const last = result.stdout.toString("utf8").trim().split("\n").at(-1) ?? "{}";
  return JSON.parse(last) as Record<string, unknown>;
}
