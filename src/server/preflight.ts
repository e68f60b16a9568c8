/**
 * A server looks before it starts its engines: a folder or a port that is taken costs no half-made start.
 *
 * 1. Every address is bound before any is given back: two flags with one address are noticed as well.
 * 2. Somebody may still take an address afterwards. Then listening on it fails with the same error.
 */
import { readdir } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { FairleadError } from "../core/errors.ts";
import { errnoOf } from "../host/file-errors.ts";
import { ensureDirectory } from "../host/files.ts";
import type { HostPort, ServerConfig } from "./config.ts";
import { refuseFolderInUse } from "./embedded/embedded.ts";

export async function preflight(config: ServerConfig): Promise<void> {
  // Passable for the account that PostgreSQL runs under; what is secret in it is closed by itself.
  await usableFolder("--data-dir", config.dataDir, 0o711);
  await usableFolder("--keys-dir", config.keysDir, 0o700);
  if (config.engines.kind === "embedded") await refuseFolderInUse(config.dataDir);
  await refuseTakenAddresses(config);
}

async function usableFolder(flag: string, folder: string, mode: number): Promise<void> {
  try {
    await ensureDirectory(folder, mode);
    await readdir(folder); // also when it is there: it may be a file, or closed to this user
  } catch (error) {
    if (error instanceof FairleadError) throw error;
    const errno = errnoOf(error);
    if (errno === undefined) throw error;
    throw new FairleadError("INVALID_INPUT", `${flag} ${folder} cannot be used: ${errno}`, { errno }, error);
  }
}

async function refuseTakenAddresses(config: ServerConfig): Promise<void> {
  const probes: Server[] = [];
  try {
    for (const [flag, address] of addressesOf(config)) probes.push(await bind(flag, address)); // (1)
  } finally {
    await Promise.all(probes.map(async (probe) => new Promise((done) => probe.close(done))));
  }
}

function addressesOf({ listen, agentListen, enrollListen, metricsListen, handlers }: ServerConfig) {
  const flags: readonly (readonly [string, HostPort | null])[] = [
    ["--listen", listen],
    ["--agent-listen", agentListen],
    ["--enroll-listen", enrollListen],
    ["--metrics-listen", metricsListen],
    ["--handlers-listen", handlers.reusePort ? null : handlers.listen],
  ];
  return flags.flatMap(([flag, address]) =>
    address === null || address.port === 0 ? [] : [[flag, address] as const],
  );
}

const bind = (flag: string, address: HostPort): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", (error) => reject(addressError(flag, address, error)));
    server.listen(address, () => resolve(server));
  });

/** (2) */
export function addressError(flag: string, { host, port }: HostPort, error: unknown): unknown {
  const errno = errnoOf(error);
  const why = errno === undefined ? undefined : UNAVAILABLE[errno];
  if (why === undefined) return error;
  return new FairleadError("ADDRESS_UNAVAILABLE", `${flag} ${host}:${port}: ${why}`, { flag, errno }, error);
}

const UNAVAILABLE: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program listens there",
  EADDRNOTAVAIL: "this machine does not have that address",
  EACCES: "this user may not listen there",
  ENOTFOUND: "that name does not resolve",
  EAI_AGAIN: "that name does not resolve",
};
