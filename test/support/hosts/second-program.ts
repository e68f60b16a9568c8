/** One more program on a node of the lab, with a unit of its own, as an operator adds it: a profile, and the agent's config. */
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { NODE } from "../../../src/demo/command.ts";
import { helloProgram } from "../../../src/demo/hello-program.ts";
import { eventually } from "../lab/eventually.ts";
import type { Lab } from "../lab/lab.ts";
import { Said } from "../lab/node.ts";
import type { HostNode } from "./node.ts";

export interface SecondProgram {
  readonly profile: string;
  readonly port: number;
  readonly version?: string;
}

export type SecondProgramOf = Awaited<ReturnType<typeof addSecondProgram>>;

/** Before the agent starts: it reads its config once. */
export async function addSecondProgram(lab: Lab, node: HostNode, options: SecondProgram) {
  const { profile, port, version = "1.0.0" } = options;
  const { host } = node;
  const at = (path: string): string => join(host.root, path);
  const home = `/opt/${profile}`;
  for (const folder of ["bin", "data", "config"]) await mkdir(at(join(home, folder)), { recursive: true });
  const install_path = `${home}/bin/${profile}`;
  await writeFile(at(install_path), helloProgram(version));
  await chmod(at(install_path), 0o755);
  const environment = `PATH=${dirname(NODE)}:/usr/bin:/bin PORT=${port} COUNTER_FILE=${home}/starts`;
  const unit = [
    ["[Unit]", `Description=${profile}`, "[Service]", `ExecStart=${install_path}`, "Restart=on-failure"],
    [`Environment=${environment}`, `WorkingDirectory=${home}/data`, ""],
  ].flat();
  await writeFile(at(`etc/systemd/system/${profile}.service`), unit.join("\n"));
  await host.exec("systemctl", "daemon-reload");
  const configPath = at("etc/fairlead/agent.json");
  const config = JSON.parse(await readFile(configPath, "utf8")) as { programs: Record<string, unknown> };
  config.programs[profile] = {
    runtime: "systemd",
    unit: `${profile}.service`,
    install_path,
    data_dir: `${home}/data`,
    config_dir: `${home}/config`,
    version,
    health: { url: `http://127.0.0.1:${port}/healthz` },
    artifact_origins: [lab.origin.url],
    stop_grace_ms: 3_000,
  };
  await writeFile(configPath, JSON.stringify(config), { mode: 0o600 });
  const added = await lab.operator.fairlead("node", "profile", "add", node.name, profile, "--json");
  if (added.code !== 0) throw new Error(`node profile add left with ${added.code}: ${added.out}`);

  return {
    profile,
    reported: () =>
      eventually(`${node.name} reports ${profile} ${version}`, async () => {
        const { profiles } = await lab.operator.node(node.name);
        const recorded = profiles.find(({ chain_profile_id }) => chain_profile_id === profile);
        return recorded?.binary_version === version;
      }),
    /** The program's own answer over HTTP, once it listens. */
    running: () =>
      eventually(`${profile} of ${node.name} answers`, async () => {
        const ask = `fetch("http://127.0.0.1:${port}/version").then((a) => a.text()).then(console.log)`;
        const asked = await host.exec(NODE, "-e", ask);
        return asked.kind === "exited" && asked.code === 0 && Said.parse(JSON.parse(asked.stdout.toString()));
      }),
    /** Instance ids, one per start. */
    async starts(): Promise<string[]> {
      const lines = (await readFile(at(`${home}/starts`), "utf8").catch(() => "")).split("\n");
      return lines.filter((line) => line !== "").map((line) => line.split(" ")[0]!);
    },
  };
}
