import type { Readable } from "node:stream";

/** The first bytes of a body, and no more of it. */
export async function collectStream(body: Readable, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let total = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    total += chunk.length;
    if (total >= bytesMax) break;
  }
  return Buffer.concat(chunks).subarray(0, bytesMax);
}
