/**
 * A real Restate of our own.
 *
 * 1. No TCP port: its admin and ingress know no authentication, so they are unix sockets in a 0700 folder.
 * 2. Its data is no truth of ours: delete the folder, and the next start begins an empty engine.
 * 3. It does not start on a machine without root certificates, though it never needs one here: it gets Node's.
 */
import { unlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { rootCertificates } from "node:tls";
import { FairleadError } from "../../core/errors.ts";
import { createHttpClient, type HttpTarget } from "../../host/bounded-http.ts";
import { writeDurable } from "../../host/durable-write.ts";
import { isMissing } from "../../host/file-errors.ts";
import { ensureDirectory } from "../../host/files.ts";
import { minimalEnv } from "../../host/process.ts";
import type { Home } from "./home.ts";
import { ensureRequestIdentity } from "./restate-identity.ts";
import type { Program } from "./supervisor.ts";

export interface RestateEndpoints {
  readonly ingress: HttpTarget & { readonly socketPath: string };
  readonly admin: HttpTarget & { readonly socketPath: string };
  /** What the SDK's endpoint takes as `withIdentityV1`. */
  readonly publicIdentity: string;
  /** The engine's own state: the tests delete it. */
  readonly dataDir: string;
}

const NODE = "n1";
const HEALTH_TIMEOUT_MS = 1_000;
const SOCKETS = ["admin", "ingress", "fabric"];

/** Small: 143 MB idle instead of 256, and no slower for what a control plane asks of it. */
export const SMALL_RESTATE: Readonly<Record<string, string>> = {
  RESTATE_DISABLE_TELEMETRY: "true",
  RESTATE_ADMIN__DISABLE_WEB_UI: "true",
  RESTATE_DEFAULT_NUM_PARTITIONS: "2",
  RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE: "32MiB",
  RESTATE_BIFROST__RECORD_CACHE_MEMORY_SIZE: "4MiB",
  RESTATE_WORKER__INVOKER__MEMORY_LIMIT: "64MiB",
  RESTATE_ADMIN__QUERY_ENGINE__MEMORY_SIZE: "32MiB",
  // A hung replica is noticed in seconds, not in a minute.
  RESTATE_WORKER__INVOKER__HTTP2_KEEP_ALIVE_INTERVAL: "1s",
  RESTATE_WORKER__INVOKER__HTTP2_KEEP_ALIVE_TIMEOUT: "2s",
  RESTATE_LOG_FORMAT: "json",
  RESTATE_LOG_DISABLE_ANSI_CODES: "true",
  RESTATE_LOG_FILTER: "warn,octocrab=off", // it asks GitHub for a newer release at every start; no setting stops it
};

export async function prepareRestate(home: Home): Promise<{ program: Program; endpoints: RestateEndpoints }> {
  const nodeDir = join(home.restateDir, NODE);
  const keyFile = join(home.path, "restate-identity.pem");
  const publicIdentity = await ensureRequestIdentity(keyFile);
  const rootsFile = join(home.path, "root-certificates.pem");
  await writeDurable(rootsFile, `${rootCertificates.join("\n")}\n`); // (3)
  const target = (name: string): RestateEndpoints["admin"] => ({
    origin: "http://localhost",
    socketPath: join(nodeDir, `${name}.sock`),
  });
  const endpoints = { ingress: target("ingress"), admin: target("admin"), publicIdentity, dataDir: nodeDir };

  const program: Program = {
    name: "restate",
    command: {
      file: restateBinary(),
      args: ["--no-logo", "--base-dir", home.restateDir, "--node-name", NODE],
      cwd: home.path,
      env: {
        ...minimalEnv(),
        ...SMALL_RESTATE,
        RESTATE_LISTEN_MODE: "unix", // (1)
        SSL_CERT_FILE: rootsFile,
        TMPDIR: nodeDir, // its spill folders outlive a SIGKILL; here they go with its data
        RESTATE_WORKER__INVOKER__REQUEST_IDENTITY_PRIVATE_KEY_PEM_FILE: keyFile,
      },
    },
    stopSignal: "SIGTERM",
    stopGraceMs: 5_000,
    readyTimeoutMs: 30_000,
    prepare: async () => {
      await ensureDirectory(nodeDir); // (2)
      for (const name of SOCKETS) await removeSocket(join(nodeDir, `${name}.sock`));
    },
    isReady: async () =>
      (await answers(endpoints.admin, "/health")) && answers(endpoints.ingress, "/restate/health"),
  };
  return { program, endpoints };
}

async function answers(target: HttpTarget, path: string): Promise<boolean> {
  const client = createHttpClient(target);
  try {
    return (await client.request(path, { timeoutMs: HEALTH_TIMEOUT_MS })).status === 200;
  } catch (error) {
    if (error instanceof FairleadError) return false;
    throw error;
  } finally {
    client.close();
  }
}

/** The binary itself: the package's own starter is a process more, and passes no signal on. */
export function restateBinary(): string {
  const name = `@restatedev/restate-server-${process.platform}-${process.arch}`;
  try {
    const starter = createRequire(import.meta.resolve("@restatedev/restate-server/package.json"));
    return join(dirname(starter.resolve(`${name}/package.json`)), "bin", "restate-server");
  } catch (error) {
    throw new FairleadError("NOT_READY", `${name} is not installed: run npm install`, undefined, error);
  }
}

async function removeSocket(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}
