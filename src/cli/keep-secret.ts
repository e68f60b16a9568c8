/** What a server shows once, kept in a new file that only the operator reads. */
import { resolve } from "node:path";
import { FairleadError } from "../core/errors.ts";
import { createExclusive } from "../host/durable-write.ts";

/** A thing whose only copy of its secret could not be kept is of no use: it is taken back. */
export async function keepSecret(
  out: string,
  secret: string,
  takeBack: () => Promise<unknown>,
): Promise<string> {
  const file = resolve(out);
  try {
    const claim = await createExclusive(file, `${secret}\n`);
    if (claim.kind === "created") return file;
    throw new FairleadError("INVALID_INPUT", `--out: ${file} exists already`);
  } catch (error) {
    await takeBack();
    throw error;
  }
}
