/**
 * Pulling an image by its digest; the engine fetches, checks and unpacks.
 *
 * 1. What it tells on the way is read in bounded lines, and nothing of it is believed but a failure.
 * 2. An image that announces more than an artifact may weigh is cut off: closing the connection ends the pull.
 */
import type { Readable } from "node:stream";
import { z } from "zod";
import { FairleadError } from "../../../../core/errors.ts";
import { LIMITS } from "../../../../core/limits.ts";
import { type Engine, oneLine, unresponsive } from "./engine.ts";
import { type ImageReference, pinned } from "./reference.ts";

const PROGRESS_BYTES_MAX = 256 * 1024 * 1024;
const LINE_BYTES_MAX = 64 * 1024;
/** Unpacking a large layer tells nothing for a while. */
const IDLE_MS = 120_000;

const Progress = z.object({
  id: z.string().optional(),
  error: z.string().optional(),
  message: z.string().optional(),
  progressDetail: z.object({ total: z.number().optional() }).optional(),
});
type Progress = z.infer<typeof Progress>;

export interface PullOptions {
  readonly signal: AbortSignal;
  /** For the registry, see registry-auth.ts. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly bytesMax?: number;
}

export async function pullImage(
  engine: Engine,
  reference: ImageReference,
  { signal, headers = {}, bytesMax = LIMITS.artifactBytesMax }: PullOptions,
): Promise<void> {
  const query = new URLSearchParams({ fromImage: reference.repository, tag: reference.digest });
  const request = {
    path: `/images/create?${query.toString()}`,
    headers,
    bytesMax: PROGRESS_BYTES_MAX,
    idleMs: IDLE_MS,
  };
  const { status, body } = await engine.stream(request, signal);
  const weights = new Map<string, number>();
  try {
    for await (const line of linesOf(body)) {
      const said = parse(line);
      const why = said.error ?? (status === 200 ? undefined : (said.message ?? `it answered ${status}`));
      if (why !== undefined) throw unreachable(reference, why);
      if (weigh(weights, said) > bytesMax)
        throw new FairleadError(
          "ARTIFACT_TOO_LARGE",
          `${pinned(reference)} is larger than ${bytesMax} bytes`,
        ); // (2)
    }
  } catch (error) {
    signal.throwIfAborted();
    throw unresponsive(error);
  } finally {
    body.destroy();
  }
  if (status !== 200) throw unreachable(reference, `the engine answered ${status}`);
}

/** All layers together, as far as they were announced. */
function weigh(weights: Map<string, number>, { id = "", progressDetail }: Progress): number {
  weights.set(id, Math.max(weights.get(id) ?? 0, progressDetail?.total ?? 0));
  return [...weights.values()].reduce((sum, weight) => sum + weight, 0);
}

/** One JSON document a line. (1) */
async function* linesOf(body: Readable): AsyncGenerator<string> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of body as AsyncIterable<Buffer>) {
    rest = Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf("\n"); end !== -1; end = rest.indexOf("\n")) {
      yield rest.subarray(0, end).toString("utf8");
      rest = rest.subarray(end + 1);
    }
    if (rest.length > LINE_BYTES_MAX)
      throw new FairleadError(
        "PAYLOAD_TOO_LARGE",
        `the engine's line is longer than ${LINE_BYTES_MAX} bytes`,
      );
  }
  if (rest.length > 0) yield rest.toString("utf8");
}

function parse(line: string): Progress {
  if (line.trim() === "") return {};
  try {
    return Progress.parse(JSON.parse(line));
  } catch (error) {
    throw new FairleadError(
      "UNREACHABLE",
      "the engine's progress is not what its API promises",
      undefined,
      error,
    );
  }
}

const unreachable = (reference: ImageReference, why: string): FairleadError =>
  new FairleadError("ARTIFACT_UNREACHABLE", `${pinned(reference)}: ${oneLine(why)}`);
