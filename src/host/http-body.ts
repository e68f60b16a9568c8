/** Response bodies with a bound on bytes, and on silence. */
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { FairleadError } from "../core/errors.ts";

export async function collectBody(response: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let total = 0;
  refuseAnnounced(response, bytesMax);
  for await (const chunk of response as AsyncIterable<Buffer>) {
    total += chunk.length;
    if (total > bytesMax) throw tooLarge(bytesMax); // leaving the loop destroys the response
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, total);
}

export function boundedBody(
  response: IncomingMessage,
  { maxResponseBytes, idleTimeoutMs }: { readonly maxResponseBytes: number; readonly idleTimeoutMs: number },
): Readable {
  refuseAnnounced(response, maxResponseBytes);
  let total = 0;
  const idle = setTimeout(() => {
    // A reader that takes its time is no silence of the peer.
    if (response.isPaused()) idle.refresh();
    else body.destroy(new FairleadError("TIMEOUT", `no byte for ${idleTimeoutMs} ms`));
  }, idleTimeoutMs);

  const body = new Readable({
    read: () => {
      idle.refresh();
      response.resume();
    },
    destroy: (error, done) => {
      clearTimeout(idle);
      response.destroy();
      done(error);
    },
  });
  response.on("data", (chunk: Buffer) => {
    total += chunk.length;
    idle.refresh();
    if (total > maxResponseBytes) body.destroy(tooLarge(maxResponseBytes));
    else if (!body.push(chunk)) response.pause();
  });
  response.once("end", () => body.push(null));
  response.once("error", (error) => body.destroy(interrupted(error)));
  response.pause();
  return body;
}

const interrupted = (error: Error): Error =>
  error.name === "AbortError"
    ? error
    : new FairleadError("UNREACHABLE", "the answer broke off", undefined, error);

function refuseAnnounced(response: IncomingMessage, bytesMax: number): void {
  if (Number(response.headers["content-length"] ?? 0) <= bytesMax) return;
  response.destroy();
  throw tooLarge(bytesMax);
}

const tooLarge = (bytesMax: number): FairleadError =>
  new FairleadError("PAYLOAD_TOO_LARGE", `the answer is larger than ${bytesMax} bytes`, { bytesMax });
