/** The files of each package, the same in its Debian package and in its tarball. */
import { readFileSync } from "node:fs";
import { AGENT_CONFIG, AGENT_EXECUTABLE, AGENT_UNIT, agentUnit } from "../../src/agent/install/unit.ts";
import { completionScript } from "../../src/cli/complete.ts";
import { inRoot } from "../root.mjs";
import type { DebianPackage } from "./deb.ts";
import { type Arch, nodeBinary } from "./node-binary.ts";
import { serverFiles } from "./server-files.ts";
import { type Program, singleExecutable } from "./single-executable.ts";
import type { Entry } from "./tar.ts";

export type PackageName = "agent" | "cli" | "server";

export type Contents = Pick<
  DebianPackage,
  "name" | "depends" | "summary" | "description" | "entries" | "scripts" | "conffiles"
>;

const AGENT: Program = { name: "fairlead-agent", entry: "src/agent/main.ts" };
const CLI: Program = { name: "fairlead", entry: "src/cli/single-executable.ts" };

/** Of Node's executable. */
const DEPENDS = ["libc6 (>= 2.28)", "libgcc-s1 | libgcc1", "libstdc++6 (>= 9)"];
const UNITS = "usr/lib/systemd/system";

/** The agent alone, without a package around it. */
export const agentExecutable = (arch: Arch): Promise<Buffer> =>
  singleExecutable(AGENT, arch, nodeBinary(arch).executable);

export async function contentsOf(name: PackageName, arch: Arch): Promise<Contents> {
  const node = nodeBinary(arch);
  switch (name) {
    case "agent":
      return {
        name: AGENT.name,
        depends: DEPENDS,
        summary: "agent of a fleet control plane",
        description:
          "Keeps the programs of one machine at what operators signed for it.\nOne executable that needs nothing else.",
        entries: [
          executable(AGENT_EXECUTABLE.slice(1), await agentExecutable(arch)),
          text(`${UNITS}/${AGENT_UNIT}`, agentUnit(AGENT_EXECUTABLE, AGENT_CONFIG)),
          text(`usr/share/doc/${AGENT.name}/agent.yaml`, packaged("agent/agent.yaml")),
          copyright(AGENT.name, node.license),
        ],
        scripts: scriptsOf("agent"),
        conffiles: [],
      };
    case "cli":
      return {
        name: CLI.name,
        depends: DEPENDS,
        summary: "command line of a fleet control plane",
        description: "Signs and watches rollouts from an operator's machine.",
        entries: [
          executable("usr/bin/fairlead", await singleExecutable(CLI, arch, node.executable)),
          text("usr/share/bash-completion/completions/fairlead", completionScript("bash")),
          text("usr/share/zsh/vendor-completions/_fairlead", completionScript("zsh")),
          text("usr/share/fish/vendor_completions.d/fairlead.fish", completionScript("fish")),
          copyright(CLI.name, node.license),
        ],
        scripts: {},
        conffiles: [],
      };
    case "server":
      return {
        name: "fairlead-server",
        depends: [...DEPENDS, "passwd"],
        summary: "fleet control plane with its own PostgreSQL and Restate",
        description:
          "Rolls signed software and configuration out to fleets of machines.\nRuns on engines of its own or on those of the site.",
        entries: [
          ...serverFiles("usr/lib/fairlead-server", node.executable),
          executable("usr/bin/fairlead-server", packaged("server/fairlead-server")),
          text(`${UNITS}/fairlead-server.service`, packaged("server/fairlead-server.service")),
          { ...text("etc/default/fairlead-server", packaged("server/default")), mode: 0o600 },
          copyright("fairlead-server", node.license),
        ],
        scripts: scriptsOf("server"),
        conffiles: ["etc/default/fairlead-server"],
      };
  }
}

const packaged = (file: string): string => readFileSync(inRoot(`packaging/${file}`), "utf8");

const scriptsOf = (name: "agent" | "server"): Contents["scripts"] => ({
  postinst: packaged(`${name}/postinst`),
  prerm: packaged(`${name}/prerm`),
  postrm: packaged(`${name}/postrm`),
});

const text = (path: string, content: string) =>
  ({ kind: "file", path, mode: 0o644, content: Buffer.from(content) }) satisfies Entry;

const executable = (path: string, content: Buffer | string): Entry => ({
  kind: "file",
  path,
  mode: 0o755,
  content: Buffer.from(content),
});

function copyright(name: string, node: Buffer): Entry {
  const own = readFileSync(inRoot("LICENSE"), "utf8");
  const parts = [own, "\n\nThe package contains Node.js:\n\n", node.toString("utf8")];
  return text(`usr/share/doc/${name}/copyright`, parts.join(""));
}
