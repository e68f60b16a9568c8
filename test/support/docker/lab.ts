/** A real engine with a real registry, in a network of their own: nothing of the machine's is touched. */
import { mkdir, mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createHttpClient, type HttpClient } from "../../../src/host/bounded-http.ts";
import { minimalEnv, run, spawnChild } from "../../../src/host/process.ts";
import { identityOf, type ProcessIdentity, stopProcess } from "../../../src/host/process-identity.ts";
import { freePort } from "../programs/free-port.ts";
import { until } from "../programs/until.ts";
import { type Gateway, listensInside, openGateway } from "./gateway.ts";
import {
  endProcessesNaming,
  LAB_FOLDER,
  nameOf,
  OWNER_FILE,
  removeLab,
  removeLeftOverLabs,
} from "./left-over.ts";

/** Its network is its own, so no other registry can have it. */
const REGISTRY_PORT = 5000;
export const REGISTRY = `127.0.0.1:${REGISTRY_PORT}`;
const STOP_GRACE_MS = 10_000;

export type DockerLab = Awaited<ReturnType<typeof dockerLab>>;

export async function dockerLab() {
  await removeLeftOverLabs();
  const folder = await mkdtemp(LAB_FOLDER);
  await writeFile(join(folder, OWNER_FILE), JSON.stringify(identityOf(process.pid)));
  const socketPath = join(folder, "docker.sock");
  const gatewaySocket = join(folder, "gateway.sock");
  const api = createHttpClient({ origin: "http://localhost", socketPath });

  await ip("netns", "add", nameOf(folder));
  await ip("-n", nameOf(folder), "link", "set", "lo", "up");
  let engine = await startEngine(folder, api);
  const script = join(import.meta.dirname, "gateway-child.ts");
  await inside(folder, "gateway", [process.execPath, script, gatewaySocket]);
  let registry: ProcessIdentity | undefined = await startRegistry(folder, gatewaySocket);

  return {
    folder,
    socketPath,
    /** The engine's own API, for what an operator would do by hand. */
    api,
    gateway: async (port: number, outsidePort = port): Promise<Gateway> =>
      openGateway(gatewaySocket, port, outsidePort),
    /** The registry's own API. */
    async registry() {
      const port = await freePort();
      const gateway = await openGateway(gatewaySocket, REGISTRY_PORT, port);
      const client = createHttpClient({ origin: `http://127.0.0.1:${port}` });
      const end = async (): Promise<void> => {
        client.close();
        await gateway.close();
      };
      return { ...client, end };
    },
    async stopEngine(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
      await stopProcess(engine, { graceMs: STOP_GRACE_MS, signal });
      // A killed engine leaves its helper behind, and the next one would wait for it in vain.
      await endProcessesNaming(join(folder, "exec", "containerd", "containerd.toml"));
      await rm(join(folder, "exec", "containerd", "containerd.pid"), { force: true });
    },
    async startEngine(): Promise<void> {
      engine = await startEngine(folder, api);
    },
    async stopRegistry(): Promise<void> {
      if (registry !== undefined) await stopProcess(registry, { graceMs: STOP_GRACE_MS });
      registry = undefined;
    },
    /** `htpasswd` is a line of who may read; without it, everybody may. */
    async startRegistry(htpasswd?: string): Promise<void> {
      registry ??= await startRegistry(folder, gatewaySocket, htpasswd);
    },
    async close(): Promise<void> {
      api.close();
      await stopProcess(engine, { graceMs: STOP_GRACE_MS }); // it unmounts what it mounted
      await removeLab(folder);
    },
  };
}

async function startEngine(folder: string, api: HttpClient): Promise<ProcessIdentity> {
  const command = [
    "dockerd",
    `--data-root=${join(folder, "data")}`,
    `--exec-root=${join(folder, "exec")}`,
    `--host=unix://${join(folder, "docker.sock")}`,
    `--pidfile=${join(folder, "engine.pid")}`,
    `--cgroup-parent=/${nameOf(folder)}`,
    "--bridge=none",
    "--iptables=false",
    "--ip6tables=false",
    "--log-level=warn",
    "--shutdown-timeout=3",
  ];
  const engine = await inside(folder, "engine", command);
  const pinged = async (): Promise<boolean> =>
    (await api.request("/_ping", { timeoutMs: 1_000 })).status === 200;
  await until("the engine answers", async () => pinged().catch(() => false));
  return engine;
}

async function startRegistry(
  folder: string,
  gatewaySocket: string,
  htpasswd?: string,
): Promise<ProcessIdentity> {
  const config = join(folder, "registry.json");
  const storage = join(folder, "registry");
  const users = join(folder, "htpasswd");
  await mkdir(storage, { recursive: true });
  await writeFile(users, htpasswd ?? "");
  // JSON is YAML, and this one has nothing to listen to but what is inside.
  await writeFile(
    config,
    JSON.stringify({
      version: 0.1,
      log: { level: "error", accesslog: { disabled: true } },
      storage: { filesystem: { rootdirectory: storage }, delete: { enabled: true } },
      http: { addr: REGISTRY },
      ...(htpasswd === undefined ? {} : { auth: { htpasswd: { realm: "lab", path: users } } }),
    }),
  );
  const registry = await inside(folder, "registry", ["docker-registry", "serve", config]);
  const listens = async (): Promise<boolean> => listensInside(gatewaySocket, REGISTRY_PORT);
  await until("the registry listens", listens);
  return registry;
}

/** `ip netns exec` would hide the control groups: only the network is another one. */
async function inside(folder: string, name: string, command: readonly string[]): Promise<ProcessIdentity> {
  const log = await open(join(folder, `${name}.log`), "a");
  try {
    const args = [`--net=/run/netns/${nameOf(folder)}`, ...command];
    const { child, identity } = await spawnChild("nsenter", args, {
      env: { ...minimalEnv(), HOME: folder, OTEL_TRACES_EXPORTER: "none" },
      stdio: ["ignore", log.fd, log.fd],
    });
    child.unref();
    return identity;
  } finally {
    await log.close();
  }
}

async function ip(...args: readonly string[]): Promise<void> {
  const result = await run("ip", args, { timeoutMs: STOP_GRACE_MS });
  if (result.kind !== "exited" || result.code !== 0)
    throw new Error(`ip ${args.join(" ")}: ${JSON.stringify(result)}`);
}
