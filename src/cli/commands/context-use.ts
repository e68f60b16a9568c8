import type { Call, Result } from "../call.ts";
import { contextStore } from "../context.ts";

export async function run({ io, args }: Call): Promise<Result> {
  const name = args[0]!;
  await contextStore(io.env).use(name);
  return { data: { current: name }, text: `${name} is the current context` };
}
