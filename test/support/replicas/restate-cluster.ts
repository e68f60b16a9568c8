/** Three real Restate nodes that form one cluster and bear the loss of any one of them. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createHttpClient } from "../../../src/host/bounded-http.ts";
import { minimalEnv } from "../../../src/host/process.ts";
import type { ProcessIdentity } from "../../../src/host/process-identity.ts";
import type { Deployment } from "../../../src/server/drive/deployments.ts";
import { connectEngine } from "../../../src/server/drive/engine.ts";
import { restateBinary, SMALL_RESTATE } from "../../../src/server/embedded/restate.ts";
import { ensureRequestIdentity } from "../../../src/server/embedded/restate-identity.ts";
import { killHard, type LabProcesses } from "../lab/processes.ts";
import { freePort } from "../programs/free-port.ts";

interface Ports {
  readonly fabric: number;
  readonly ingress: number;
  readonly admin: number;
}

export type RestateCluster = Awaited<ReturnType<typeof startRestateCluster>>;

export async function startRestateCluster(
  folder: string,
  processes: LabProcesses,
  size = 3,
  signsCalls = true,
) {
  const base = join(folder, "restate");
  await mkdir(base, { mode: 0o700 });
  const keyFile = join(base, "identity.pem");
  const identityKey = await ensureRequestIdentity(keyFile);
  const ports: Ports[] = [];
  for (let at = 0; at < size; at += 1)
    ports.push({ fabric: await freePort(), ingress: await freePort(), admin: await freePort() });
  const at = (port: number): string => `http://127.0.0.1:${port}`;
  const running = new Map<number, ProcessIdentity>();

  async function start(index: number): Promise<void> {
    const name = `n${index + 1}`;
    const { fabric, ingress, admin } = ports[index]!;
    const settings = {
      ...SMALL_RESTATE,
      RESTATE_LISTEN_MODE: "tcp",
      RESTATE_CLUSTER_NAME: "replicas",
      RESTATE_DEFAULT_REPLICATION: String(Math.min(2, size)),
      RESTATE_AUTO_PROVISION: String(index === 0),
      RESTATE_METADATA_CLIENT__ADDRESSES: JSON.stringify(ports.map((each) => at(each.fabric))),
      RESTATE_BIND_IP: "127.0.0.1",
      RESTATE_BIND_PORT: String(fabric),
      RESTATE_ADVERTISED_ADDRESS: at(fabric),
      RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
      RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
      ...(signsCalls ? { RESTATE_WORKER__INVOKER__REQUEST_IDENTITY_PRIVATE_KEY_PEM_FILE: keyFile } : {}),
      TMPDIR: base,
    };
    const args = ["--no-logo", "--base-dir", base, "--node-name", name];
    const options = { cwd: base, env: { ...minimalEnv(), ...settings } };
    running.set(index, await processes.start(`restate-${name}`, restateBinary(), args, options));
  }

  await Promise.all(ports.map(async (_, index) => start(index)));
  const answers = (index: number) =>
    processes.signOf(`restate-n${index + 1}`, running.get(index)!, async () =>
      isHealthy(at(ports[index]!.ingress), "/restate/health"),
    );
  await Promise.all(ports.map(async (_, index) => answers(index)));
  return {
    identityKey,
    ingress: ports.map((each) => at(each.ingress)),
    admin: ports.map((each) => at(each.admin)),
    kill: async (index: number): Promise<void> => killHard(running.get(index)!),
    deployments: () => deploymentsAt(at(ports[0]!.admin)),
    killAll: async (): Promise<void> => void (await Promise.all([...running.values()].map(killHard))),
    async startAgain(index: number): Promise<void> {
      await start(index);
      await answers(index);
    },
  };
}

async function isHealthy(origin: string, path: string): Promise<boolean> {
  const client = createHttpClient({ origin });
  try {
    return (await client.request(path, { timeoutMs: 1_000 })).status === 200;
  } finally {
    client.close();
  }
}

async function deploymentsAt(origin: string): Promise<Deployment[]> {
  const engine = connectEngine({ ingress: [{ origin }], admin: [{ origin }], identityKey: null });
  try {
    return await engine.deployments();
  } finally {
    engine.close();
  }
}
