/** A key pair on this machine: the private half in a file of its own (0600), the public half beside it. */
import { resolve } from "node:path";
import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import { createExclusive, removeDurable } from "../../host/durable-write.ts";
import { generateSigner } from "../../trust/keys.ts";
import type { Call, Result } from "../call.ts";
import { publicPem } from "../keys/public-key.ts";
import { optionsOf } from "../options.ts";

const Options = z.object({ out: z.string().min(1) });

export async function run(call: Call): Promise<Result> {
  const file = resolve(optionsOf(Options, call.options).out);
  const publicFile = `${file}.pub`;
  const { signer, pem } = generateSigner();
  await claim(file, pem);
  try {
    await claim(publicFile, publicPem(signer.record));
  } catch (error) {
    await removeDurable(file); // a private half without its public one is of no use
    throw error;
  }
  const { key_id } = signer.record;
  return {
    data: { key_id, file, public_file: publicFile },
    text: publicFile,
    notes: `key ${key_id.slice(0, 12)}: the private half is in ${file}, and goes nowhere else`,
  };
}

async function claim(file: string, text: string): Promise<void> {
  const made = await createExclusive(file, text);
  if (made.kind === "exists")
    throw new FairleadError("INVALID_INPUT", `--out: ${file} exists already, and keys are never overwritten`);
}
