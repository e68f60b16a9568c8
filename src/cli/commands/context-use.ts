import { resolve } from "node:path";
import { z } from "zod";
import type { Call, Result } from "../call.ts";
import { contextStore } from "../context.ts";
import { readOwnSigner } from "../operator-files.ts";
import { optionsOf } from "../options.ts";

const Options = z.object({ releaseKey: z.string().optional() });

export async function run({ io, args, options }: Call): Promise<Result> {
  const name = args[0]!;
  const { releaseKey } = optionsOf(Options, options);
  const store = contextStore(io.env);
  if (releaseKey !== undefined) {
    const { context } = await store.load(name);
    await readOwnSigner("--release-key", releaseKey);
    await store.update(name, { ...context, release_key_file: resolve(releaseKey) });
  }
  await store.use(name);
  return { data: { current: name }, text: `${name} is the current context` };
}
