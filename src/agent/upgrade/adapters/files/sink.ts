import { createHash } from "node:crypto";
import { Digest } from "../../../../core/ids.ts";

/** Hashes what passes through on its way to `write`. */
export function hashingSink(write: (chunk: Uint8Array) => Promise<void>) {
  const hash = createHash("sha256");
  return {
    write: async (chunk: Uint8Array): Promise<void> => {
      hash.update(chunk);
      await write(chunk);
    },
    digest: (): Digest => Digest.parse(`sha256:${hash.digest("hex")}`),
  };
}
