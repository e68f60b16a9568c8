/** The digest behind a link of the kernel's, which every other opening of ours would refuse to follow. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { Digest } from "../../../../core/ids.ts";

/** Null when it is gone. */
export async function hashFollowing(path: string): Promise<Digest | null> {
  const hash = createHash("sha256");
  try {
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) hash.update(chunk);
  } catch {
    return null;
  }
  return Digest.parse(`sha256:${hash.digest("hex")}`);
}
