import type { Call, Result } from "../call.ts";
import { completionScript, SHELLS } from "../complete.ts";

export async function run({ args }: Call): Promise<Result> {
  const shell = SHELLS.find((name) => name === args[0])!; // commander has checked it
  const script = completionScript(shell);
  return { data: { shell, script }, text: script.trimEnd() };
}
