/** A small local fleet: each node has its own folder, its own agent and its own port. */
import { createServer, type AddressInfo } from "node:net";
import { chmod, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { createHttpClient, jsonOf } from "../host/bounded-http.ts";
import { sleep } from "../host/clock.ts";
import { ensureDirectory } from "../host/files.ts";
import { run } from "../host/process.ts";
import type { Children } from "./children.ts";
import { commandEnv, FAIRLEAD, fairlead, NODE } from "./command.ts";

export const PROFILE = "hello";
export const NODE_TYPE = "edge";

export interface FleetNode {
  readonly name: string;
  readonly folder: string;
  readonly port: number;
}

export interface NodeSetup {
  readonly folder: string;
  readonly name: string;
  readonly version: string;
  readonly program: Buffer;
  readonly enrollUrl: string;
  readonly origin: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Puts a machine into the state a real one is in before it joins: a program installed, a config, a token. */
export async function prepareNode(home: string, setup: NodeSetup): Promise<FleetNode> {
  const folder = join(setup.folder, setup.name);
  for (const part of ["", "bin", "data", "config"]) await ensureDirectory(join(folder, part), 0o700);
  const installed = join(folder, "bin", "hello");
  await writeFile(installed, setup.program);
  await chmod(installed, 0o755);
  const port = await freePort();
  const tokenFile = join(folder, "token");
  const who = ["--name", setup.name, "--profile", PROFILE, "--type", NODE_TYPE];
  await fairlead(home, ["node", "token", ...who, "--out", tokenFile]);
  const config = {
    data_dir: join(folder, "agent"),
    enroll_url: setup.enrollUrl,
    token_file: tokenFile,
    programs: {
      [PROFILE]: {
        install_path: installed,
        data_dir: join(folder, "data"),
        config_dir: join(folder, "config"),
        version: setup.version,
        // The program is a script: it finds the Node that runs the demo, wherever that lies.
        env: { PORT: String(port), PATH: `${dirname(NODE)}:/usr/local/bin:/usr/bin:/bin`, ...setup.env },
        health: { url: `http://127.0.0.1:${port}/healthz` },
        artifact_origins: [setup.origin],
        stop_grace_ms: 3_000,
      },
    },
  };
  await writeFile(configOf(folder), JSON.stringify(config, null, 2), { mode: 0o600 });
  return { name: setup.name, folder, port };
}

const configOf = (folder: string): string => join(folder, "agent.yaml");

export const startAgent = (children: Children, home: string, node: FleetNode): Promise<void> =>
  children.start(`agent-${node.name}`, NODE, [FAIRLEAD, "agent", "--config", configOf(node.folder)], {
    env: commandEnv(home),
  });

/** Programs outlive their agents: they are stopped by the agent's own command, also those of a run that was killed. */
export async function stopPrograms(home: string, fleetFolder: string): Promise<void> {
  const names = await readdir(fleetFolder).catch(() => [] as string[]);
  const stop = (name: string) =>
    run(NODE, [FAIRLEAD, "agent", "--config", configOf(join(fleetFolder, name)), "--stop-programs"], {
      env: commandEnv(home),
      timeoutMs: 30_000,
    });
  await Promise.all(names.map(stop));
}

const VersionAnswer = z.object({ version: z.string(), instance_id: z.string().nullable() });

/** Asks the running program itself. */
export async function runningVersion(port: number, timeoutMs = 15_000): Promise<string | null> {
  const client = createHttpClient({ origin: `http://127.0.0.1:${port}` });
  const until = performance.now() + timeoutMs;
  try {
    for (;;) {
      try {
        return VersionAnswer.parse(jsonOf(await client.request("/version", { timeoutMs: 1_000 }))).version;
      } catch {
        if (performance.now() > until) return null;
        await sleep(50);
      }
    }
  } finally {
    client.close();
  }
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise<void>((resolve) => probe.close(() => resolve()));
  return port;
}
