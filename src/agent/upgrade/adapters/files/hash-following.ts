/** The digest behind a link of the kernel's, which every other opening of ours would refuse to follow. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { Digest } from "../../../../core/ids.ts";
import { ifThere } from "./if-there.ts";

/** Null when it is gone. */
export const hashFollowing = async (path: string): Promise<Digest | null> => ifThere(hashOf(path));

async function hashOf(path: string): Promise<Digest> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) hash.update(chunk);
  return Digest.parse(`sha256:${hash.digest("hex")}`);
}
