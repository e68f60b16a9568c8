import type { Call, Result } from "../call.ts";
import { contextStore } from "../context.ts";

export async function run({ io, args }: Call): Promise<Result> {
  const name = args[0]!;
  await contextStore(io.env).remove(name);
  return { data: { removed: name }, text: `${name} is forgotten; its key files stay where they are` };
}
