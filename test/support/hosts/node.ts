/** One node of the lab on a real host: its agent and its program are units there, as an operator would have them. */
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { FAIRLEAD, NODE } from "../../../src/demo/command.ts";
import { helloProgram } from "../../../src/demo/hello-program.ts";
import { digestOf } from "../../../src/trust/digest.ts";
import { eventually } from "../lab/eventually.ts";
import type { Lab } from "../lab/lab.ts";
import { NODE_TYPE, reported } from "../lab/agent-of-node.ts";
import { Said } from "../lab/node.ts";
import type { Host } from "./host.ts";

const INSTALLED = "/opt/hello/bin/hello";
const STARTS = "/opt/hello/starts";
const UNIT = "hello.service";
const AGENT = "fairlead-agent.service";
const PATH = `${dirname(NODE)}:/usr/local/bin:/usr/bin:/bin`;

export interface HostNodeOptions {
  readonly name: string;
  readonly profile?: string;
  readonly version?: string;
  readonly origins?: readonly string[];
  /** Who keeps the program running; a unit of its own unless said. */
  readonly runtime?: "systemd" | "process";
  /** More lines of the agent's `[Service]`. */
  readonly agentService?: readonly string[];
  /** Of the program; hosts that share a network need one each. */
  readonly port?: number;
  readonly dataDir?: string;
  /** Made by `fairlead node token`; without it, one is asked for here. */
  readonly token?: string;
}

export type HostNode = Awaited<ReturnType<typeof addHostNode>>;

const programUnit = (port: number): string[] =>
  [
    ["[Unit]", "Description=hello", "[Service]", `ExecStart=${INSTALLED}`, "Restart=on-failure"],
    [`Environment=PATH=${PATH} PORT=${port} COUNTER_FILE=${STARTS}`, "WorkingDirectory=/opt/hello/data"],
  ].flat();

/** As everybody writes it: KillMode is systemd's own default. */
const agentUnit = (more: readonly string[]): string[] =>
  [
    ["[Unit]", "Description=Fairlead agent", "[Service]", "Environment=HOME=/root"],
    [
      `ExecStart=${NODE} ${FAIRLEAD} agent --config /etc/fairlead/agent.json`,
      "Restart=always",
      "RestartSec=1",
    ],
    [...more, "[Install]", "WantedBy=multi-user.target"],
  ].flat();

/** Not yet running: its agent has to be started. */
export async function addHostNode(lab: Lab, host: Host, options: HostNodeOptions) {
  const { name, profile = "hello", version = "1.0.0", origins = [lab.origin.url] } = options;
  const {
    runtime = "systemd",
    agentService = [],
    port = 8000,
    dataDir = "/var/lib/fairlead-agent",
  } = options;
  const at = (path: string): string => join(host.root, path);
  for (const folder of ["opt/hello/bin", "opt/hello/data", "opt/hello/config", "etc/fairlead"]) {
    await mkdir(at(folder), { recursive: true });
  }
  const program = {
    ...(runtime === "systemd"
      ? { runtime, unit: UNIT }
      : { runtime, env: { PATH, PORT: String(port), COUNTER_FILE: STARTS } }),
    install_path: INSTALLED,
    data_dir: "/opt/hello/data",
    config_dir: "/opt/hello/config",
    version,
    health: { url: `http://127.0.0.1:${port}/healthz` },
    artifact_origins: origins,
    stop_grace_ms: 3_000,
  };
  const config = {
    data_dir: dataDir,
    enroll_url: lab.enrollUrl,
    token_file: "/etc/fairlead/token",
    programs: { [profile]: program },
  };
  const token = options.token ?? (await lab.operator.enrollmentToken(name, profile, NODE_TYPE));
  await writeFile(at("etc/fairlead/token"), token, { mode: 0o600 });
  await writeFile(at("etc/fairlead/agent.json"), JSON.stringify(config), { mode: 0o600 });
  await writeFile(at(INSTALLED), helloProgram(version));
  await chmod(at(INSTALLED), 0o755);
  await writeFile(at(`etc/systemd/system/${UNIT}`), `${programUnit(port).join("\n")}\n`);
  await writeFile(at(`etc/systemd/system/${AGENT}`), `${agentUnit(agentService).join("\n")}\n`);
  if (host.isOn()) await demand(host, "systemctl", "daemon-reload");

  return {
    name,
    profile,
    host,
    unit: UNIT,
    agentUnit: AGENT,
    installPath: at(INSTALLED),
    startAgent: async () => demand(host, "systemctl", "enable", "--now", AGENT),
    restartAgent: async () => demand(host, "systemctl", "restart", AGENT),
    stopAgent: async () => demand(host, "systemctl", "stop", AGENT),
    killAgent: async () => demand(host, "systemctl", "kill", "--signal=SIGKILL", "--kill-who=main", AGENT),
    reported: () => reported(lab, name, version),
    /** What the program itself says over HTTP, once it listens. */
    running: () =>
      eventually(`the program of ${name} answers`, async () => {
        const ask = `fetch("http://127.0.0.1:${port}/version").then((a) => a.text()).then(console.log)`;
        const asked = await host.exec(NODE, "-e", ask);
        return asked.kind === "exited" && asked.code === 0 && Said.parse(JSON.parse(asked.stdout.toString()));
      }),
    tokenFile: at("etc/fairlead/token"),
    installed: async () => digestOf(await readFile(at(INSTALLED))),
    /** Instance ids, one per start, written by the program itself. */
    async starts(): Promise<string[]> {
      const lines = (await readFile(at(STARTS), "utf8").catch(() => "")).split("\n");
      return lines.filter((line) => line !== "").map((line) => line.split(" ")[0]!);
    },
    agentLog: (lines?: number) => host.tell(AGENT, lines),
  };
}

async function demand(host: Host, file: string, ...args: readonly string[]): Promise<void> {
  const done = await host.exec(file, ...args);
  if (done.kind === "exited" && done.code === 0) return;
  throw new Error(
    `${host.name}: ${file} ${args.join(" ")}: ${"stderr" in done ? done.stderr.toString() : done.kind}`,
  );
}

/** One node on each host, all of them reported. */
export async function addRunningHostNodes(
  lab: Lab,
  hosts: readonly Host[],
  options: Omit<HostNodeOptions, "name"> = {},
): Promise<HostNode[]> {
  const nodes: HostNode[] = [];
  for (const [index, host] of hosts.entries()) {
    nodes.push(await addHostNode(lab, host, { ...options, name: `host-${index + 1}` }));
  }
  for (const node of nodes) await node.startAgent();
  await Promise.all(nodes.map(async (node) => node.reported()));
  return nodes;
}
