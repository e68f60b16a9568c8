/** A real machine in small: a program that is installed, an agent from its bundle, both as an operator would have them. */
import { createServer, type AddressInfo } from "node:net";
import { chmod, open, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { helloProgram } from "../../src/demo/hello-program.ts";
import { NodeList } from "../../src/core/protocol/operator-api.ts";
import { sleep } from "../../src/host/clock.ts";
import { ensureDirectory } from "../../src/host/files.ts";
import { run, spawnChild } from "../../src/host/process.ts";
import { stopProcess, type ProcessIdentity } from "../../src/host/process-identity.ts";
import { commandEnv, fairlead } from "./fairlead.ts";
import type { Site } from "./site.ts";
import type { Workplace } from "./workplace.ts";

export const BUNDLE = fileURLToPath(new URL("../../dist/agent/fairlead-agent.mjs", import.meta.url));
const PROFILE = "hello";
const STOP_GRACE_MS = 15_000;
const RUNNING_TIMEOUT_MS = 60_000;

export interface RealNode {
  /** Starts its agent and returns when the server has heard that the program runs. */
  startAgent(): Promise<ProcessIdentity>;
}

/** The agent's command without its arguments: its bundle unless said. */
type AgentCommand = readonly [string, ...string[]];

export async function prepareRealNode(
  place: Workplace,
  site: Site,
  name: string,
  [agentFile, ...agentArgs]: AgentCommand = [process.execPath, BUNDLE],
): Promise<RealNode> {
  const folder = join(place.folder, name);
  for (const part of ["", "bin", "data", "config"]) await ensureDirectory(join(folder, part), 0o700);
  const installed = join(folder, "bin", "hello");
  await writeFile(installed, helloProgram("1.0.0"));
  await chmod(installed, 0o755);
  const token = join(folder, "token");
  await fairlead(site.home, [
    "node",
    "token",
    "--name",
    name,
    "--profile",
    PROFILE,
    "--type",
    "edge",
    "--out",
    token,
  ]);
  const port = await freePort();
  const config = join(folder, "agent.yaml");
  const program = {
    install_path: installed,
    data_dir: join(folder, "data"),
    config_dir: join(folder, "config"),
    version: "1.0.0",
    env: { PORT: String(port) },
    health: { url: `http://127.0.0.1:${port}/healthz` },
  };
  const agent = { data_dir: join(folder, "agent"), enroll_url: site.enrollUrl, token_file: token };
  await writeFile(config, JSON.stringify({ ...agent, programs: { [PROFILE]: program } }), { mode: 0o600 });
  // The program is a script that asks for `node` by name.
  const inherited = commandEnv(folder);
  const env = { ...inherited, PATH: `${dirname(process.execPath)}:${inherited["PATH"]}` };
  place.undo(`${name}'s program`, async () => {
    const args = [...agentArgs, "--config", config, "--stop-programs"];
    await run(agentFile, args, { env, timeoutMs: 30_000 });
  });

  return {
    async startAgent() {
      const since = Date.now();
      const log = await open(join(folder, "agent.log"), "a", 0o600);
      const { identity } = await spawnChild(agentFile, [...agentArgs, "--config", config], {
        env,
        stdio: ["ignore", log.fd, log.fd],
      });
      await log.close();
      place.undo(
        `${name}'s agent`,
        async () => void (await stopProcess(identity, { graceMs: STOP_GRACE_MS })),
      );
      await untilHeard(site, name, since);
      return identity;
    },
  };
}

async function untilHeard({ operators }: Site, name: string, since: number): Promise<void> {
  for (const until = performance.now() + RUNNING_TIMEOUT_MS; performance.now() < until; await sleep(200)) {
    const { nodes } = await operators.get("/api/v1/nodes?limit=500", NodeList);
    const node = nodes.find((one) => one.name === name);
    const fresh = Date.parse(node?.last_heartbeat_at ?? "1970-01-01T00:00:00Z") > since;
    if (fresh && node?.programs[0]?.running_fingerprint != null) return;
  }
  throw new Error(`${name} was not heard of in time`);
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise<void>((resolve) => probe.close(() => resolve()));
  return port;
}
