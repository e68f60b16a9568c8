/**
 * Bytes from an artifact's address (ROLL-4). The digest decides whether they are the right ones; this decides whom
 * the node speaks to, and for how long.
 *
 * 1. Only origins that the machine's operator listed, compared whole, and no redirect.
 * 2. A listed name must not resolve to loopback or link-local: whoever runs that DNS could point us inside.
 *    A listed loopback address is what it says.
 * 3. Every response has a bound, and a peer that drips is cut off: so much per window, or it ends.
 */
import { lookup as resolveName, type LookupAddress } from "node:dns";
import type { LookupFunction } from "node:net";
import { FairleadError } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import { createHttpClient } from "../../host/bounded-http.ts";
import { isInsideAddress, isLoopbackHost } from "../programs/loopback.ts";

export interface FetchOptions {
  readonly origins: readonly string[];
  readonly signal: AbortSignal;
  readonly bytesMax?: number;
  /** Less than `bytesMin` in `windowMs` is too slow. */
  readonly pace?: { readonly bytesMin: number; readonly windowMs: number };
  readonly resolve?: typeof resolveName;
}

const PACE = { bytesMin: 64 * 1024, windowMs: 15_000 };
const HEADERS_TIMEOUT_MS = 15_000;

export async function fetchArtifact(
  address: string,
  write: (chunk: Uint8Array) => Promise<void>,
  options: FetchOptions,
): Promise<void> {
  const { signal, bytesMax = LIMITS.artifactBytesMax, pace = PACE } = options;
  const url = allowedUrl(address, options.origins);
  const lookup = isLoopbackHost(url.hostname) ? undefined : outsideLookup(options.resolve ?? resolveName);
  const client = createHttpClient({
    origin: url.origin,
    maxSockets: 1,
    ...(lookup === undefined ? {} : { lookup }),
  });
  const watch = watchPace(pace);
  try {
    const response = await client.stream(url.pathname + url.search, {
      timeoutMs: HEADERS_TIMEOUT_MS,
      idleTimeoutMs: pace.windowMs,
      maxResponseBytes: bytesMax,
      signal: AbortSignal.any([signal, watch.signal]),
    });
    if (response.status !== 200) {
      response.body.destroy();
      throw new FairleadError("ARTIFACT_UNREACHABLE", `${url.origin} answered ${response.status}`, {
        status: response.status,
      });
    }
    for await (const chunk of response.body as AsyncIterable<Buffer>) {
      watch.count(chunk.length);
      await write(chunk);
    }
  } catch (error) {
    signal.throwIfAborted();
    throw explained(watch.signal.aborted ? watch.signal.reason : error, url);
  } finally {
    watch.end();
    client.close();
  }
}

/** Codes: ORIGIN_NOT_ALLOWED. */
export function allowedUrl(address: string, origins: readonly string[]): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const refused = (why: string): FairleadError =>
    new FairleadError("ORIGIN_NOT_ALLOWED", `artifact address: ${why}`);
  if (url === undefined || !/^https?:$/.test(url.protocol)) throw refused("not http or https");
  if (url.username !== "" || url.password !== "") throw refused("it carries credentials");
  if (!origins.includes(url.origin)) throw refused(`${url.origin} is not listed`); // (1)
  return url;
}

function outsideLookup(resolve: typeof resolveName): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      if (error !== null) return callback(error, []);
      const [first] = addresses;
      if (first === undefined || addresses.some(({ address }) => isInsideAddress(address))) {
        return callback(
          new FairleadError("ORIGIN_NOT_ALLOWED", `${hostname} resolves to an inside address`),
          [],
        ); // (2)
      }
      return options.all === true ? callback(null, addresses) : callback(null, first.address, first.family);
    });
  };
}

function watchPace({ bytesMin, windowMs }: { readonly bytesMin: number; readonly windowMs: number }) {
  const slow = new AbortController();
  let bytes = 0;
  const timer = setInterval(() => {
    if (bytes < bytesMin)
      slow.abort(new FairleadError("ARTIFACT_UNREACHABLE", `fewer than ${bytesMin} bytes in ${windowMs} ms`));
    bytes = 0;
  }, windowMs); // (3)
  return {
    signal: slow.signal,
    count: (more: number) => void (bytes += more),
    end: () => clearInterval(timer),
  };
}

function explained(error: unknown, url: URL): unknown {
  if (!(error instanceof FairleadError)) return error;
  if (error.code === "PAYLOAD_TOO_LARGE")
    return new FairleadError("ARTIFACT_TOO_LARGE", error.message, error.detail, error);
  const cause = error.cause;
  if (cause instanceof FairleadError && cause.code === "ORIGIN_NOT_ALLOWED") return cause;
  if (error.code !== "UNREACHABLE" && error.code !== "TIMEOUT") return error;
  return new FairleadError("ARTIFACT_UNREACHABLE", `${url.origin}: ${error.message}`, error.detail, error);
}
