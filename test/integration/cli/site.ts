/** A real site: `fairlead server --embedded`, agents with a small HTTP program each, and the CLI. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { commandEnv } from "../../../src/demo/command.ts";
import { helloProgram } from "../../../src/demo/hello-program.ts";
import { removeEmbedded } from "../../../src/server/embedded/embedded.ts";
import { digestOf } from "../../../src/trust/digest.ts";
import { fairleadHere, type Ran, ranProcess } from "../../support/cli.ts";
import { artifactServer } from "../../support/programs/artifact-server.ts";
import { freePort } from "../../support/programs/free-port.ts";
import { until } from "../../support/programs/until.ts";

const BIN = fileURLToPath(new URL("../../../bin/fairlead.mjs", import.meta.url));
/** Scripts find their interpreter by this, whatever Node the machine has. */
const PATH = `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`;
export const PROFILE = "hello";

interface Listening {
  readonly url: string;
  readonly enroll_url: string;
  readonly first_run_secret_file: string;
}

export type CliSite = Awaited<ReturnType<typeof startSite>>;

export async function startSite() {
  const folder = await mkdtemp(join(tmpdir(), "fl-c-")); // short enough for a socket below it
  await chmod(folder, 0o711); // PostgreSQL's account passes through
  const env = { ...commandEnv(folder), PATH, FAIRLEAD_HOME: join(folder, "home") };
  const dataDir = join(folder, "data");
  const artifacts = await artifactServer();
  const agents: { child: ChildProcess; dataDir: string; port: number }[] = [];
  const any = "127.0.0.1:0";
  const words = [
    "server",
    "--embedded",
    "--data-dir",
    dataDir,
    "--listen",
    any,
    "--agent-listen",
    any,
    "--enroll-listen",
    any,
  ];
  const server = spawn(process.execPath, [BIN, ...words], { env, stdio: ["ignore", "pipe", "pipe"] });
  const listening = await firstLine(server);

  const fairlead = (...argv: string[]): Promise<Ran> => fairleadHere(argv, { env });
  const command = (...argv: string[]): Promise<Ran> => ranProcess([process.execPath, BIN, ...argv], env);

  /** Under a pseudo-terminal of this size, as a person would. The words are ours and need no quoting. */
  const onTerminal = (size: string, ...argv: string[]): Promise<Ran> => {
    const words = `stty ${size}; ${[process.execPath, BIN, ...argv].join(" ")}`;
    return ranProcess(["script", "-qec", words, "/dev/null"], { ...env, TERM: "xterm" });
  };

  async function addAgent(name: string, version: string): Promise<void> {
    const root = join(folder, name);
    const port = await freePort();
    for (const each of ["bin", "data", "config"]) await mkdir(join(root, each), { recursive: true });
    await writeFile(join(root, "bin/hello"), helloProgram(version));
    await chmod(join(root, "bin/hello"), 0o755);
    const token = join(root, "token");
    const words = ["--name", name, "--profile", PROFILE, "--type", "small", "--out", token];
    await fairlead("node", "token", ...words);
    const program = {
      install_path: join(root, "bin/hello"),
      data_dir: join(root, "data"),
      config_dir: join(root, "config"),
      health: { url: `http://127.0.0.1:${port}/healthz` },
      artifact_origins: [artifacts.origin],
      version,
      env: { PATH, PORT: String(port) },
    };
    const agentDir = join(root, "agent");
    const config = {
      data_dir: agentDir,
      enroll_url: listening.enroll_url,
      token_file: token,
      programs: { [PROFILE]: program },
    };
    await writeFile(join(root, "agent.yaml"), JSON.stringify(config));
    const child = spawn(process.execPath, [BIN, "agent", "--config", join(root, "agent.yaml")], {
      env,
      stdio: ["ignore", "ignore", "pipe"],
    });
    child.stderr.resume();
    agents.push({ child, dataDir: agentDir, port });
  }

  return {
    folder,
    listening,
    /** In this process, for what only moves the story on. */
    fairlead,
    /** As a process of its own, as a person runs it. */
    command,
    onTerminal,
    addAgent,
    /** Waits until every agent has beaten with its program at this version. */
    agentsReady: (version: string) =>
      until("every agent is seen", async () => {
        const listed = await fairlead("node", "list", "--version", version, "--json");
        const { nodes } = listed.json<{ nodes: { last_heartbeat_at: string | null }[] }>();
        return nodes.filter((node) => node.last_heartbeat_at !== null).length === agents.length;
      }),
    /** What the programs themselves say over HTTP. */
    running: () =>
      Promise.all(
        agents.map(
          async ({ port }) =>
            ((await (await fetch(`http://127.0.0.1:${port}/version`)).json()) as { version: string }).version,
        ),
      ),
    /** Puts bytes where agents fetch them; answers with address and fingerprint. */
    publish(version: string): { url: string; checksum: string } {
      const bytes = helloProgram(version);
      artifacts.put(`/hello-${version}`, bytes);
      return { url: `${artifacts.origin}/hello-${version}`, checksum: digestOf(bytes) };
    },
    /** A manifest on the server; answers with the path of the operator's copy. */
    async putManifest(id: string, text: string): Promise<string> {
      const onServer = join(dataDir, "config/upgrades", PROFILE);
      await mkdir(onServer, { recursive: true });
      await writeFile(join(onServer, `${id}.yaml`), text);
      await writeFile(join(folder, `${id}.yaml`), text);
      return join(folder, `${id}.yaml`);
    },
    async stop(): Promise<void> {
      for (const { child, dataDir: agentDir } of agents) {
        await ended(child);
        await stopPrograms(agentDir);
      }
      await ended(server);
      await artifacts.close();
      await removeEmbedded(dataDir);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function firstLine(child: ChildProcess): Promise<Listening> {
  let complaints = "";
  child.stderr!.on("data", (chunk: Buffer) => (complaints = `${complaints}${chunk.toString()}`.slice(-4000)));
  for await (const line of createInterface({ input: child.stdout! })) return JSON.parse(line) as Listening;
  throw new Error(`the server did not start: ${complaints}`);
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGTERM");
  await once(child, "exit");
}

/** Programs outlive their agent: their shims are told to stop, each by its own id. */
async function stopPrograms(agentDir: string): Promise<void> {
  for (const entry of await readdir(agentDir, { recursive: true })) {
    if (!entry.endsWith("/state.json")) continue;
    const state = JSON.parse(await readFile(join(agentDir, entry), "utf8")) as { shim?: { pid: number } };
    if (state.shim === undefined) continue;
    const { pid } = state.shim;
    try {
      process.kill(pid, "SIGTERM");
    } catch {
      continue; // it has ended already
    }
    await until("the shim has ended", () => !isRunning(pid));
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
