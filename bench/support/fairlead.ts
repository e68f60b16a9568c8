/** The product's own command, run as an operator would. */
import { fileURLToPath } from "node:url";
import { minimalEnv, run } from "../../src/host/process.ts";

export const FAIRLEAD = fileURLToPath(new URL("../../bin/fairlead.mjs", import.meta.url));
const COMMAND_TIMEOUT_MS = 120_000;
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

export const commandEnv = (home: string): Record<string, string> => ({
  ...minimalEnv(),
  HOME: home,
  FAIRLEAD_HOME: home,
});

/** Answers with the last line that the command printed, which is its JSON. */
export async function fairlead(home: string, args: readonly string[]): Promise<unknown> {
  const result = await run(process.execPath, [FAIRLEAD, ...args, "--json"], {
    env: commandEnv(home),
    timeoutMs: COMMAND_TIMEOUT_MS,
    maxOutputBytes: OUTPUT_BYTES_MAX,
  });
  const what = `fairlead ${args.slice(0, 2).join(" ")}`;
  if (result.kind !== "exited") throw new Error(`${what}: ${result.kind}`);
  const said = result.stdout.toString("utf8").trim();
  if (result.code === 0) return JSON.parse(said.split("\n").at(-1) ?? "null");
  throw new Error(`${what} left with ${result.code}: ${said} ${result.stderr.toString("utf8").slice(-1000)}`);
}
