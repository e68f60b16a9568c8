/** The operators' listener speaks plain HTTP to its own machine only. */
import { readFile } from "node:fs/promises";
import { BlockList, isIP } from "node:net";
import { FairleadError } from "../../core/errors.ts";

export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

function isLoopback(host: string): boolean {
  const family = isIP(host);
  if (family === 0) return host === "localhost";
  return loopback.check(host, family === 6 ? "ipv6" : "ipv4");
}

/** Key and certificate for the listener; undefined: plain HTTP, which is refused beyond loopback. */
export async function listenerTls(
  host: string,
  files: TlsFiles | undefined,
): Promise<{ key: Buffer; cert: Buffer } | undefined> {
  if (files !== undefined)
    return { key: await readFile(files.keyFile), cert: await readFile(files.certFile) };
  if (isLoopback(host)) return undefined;
  throw new FairleadError(
    "INVALID_INPUT",
    `listening on ${host} without TLS would send tokens in the clear: name a certificate, or listen on 127.0.0.1`,
  );
}
