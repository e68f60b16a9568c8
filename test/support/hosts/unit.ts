/** A unit on a real host, as an operator would have written it, for a machine of the tests. */
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { FileProgram } from "../../../src/agent/programs/config.ts";
import type { Surroundings } from "../programs/machine.ts";
import type { Host } from "./host.ts";

export interface UnitOptions {
  readonly type?: string;
  readonly restart?: string;
  /** More lines of `[Service]`. */
  readonly service?: readonly string[];
}

let made = 0;

export function unitOn(host: Host, options: UnitOptions = {}): Surroundings {
  const { type = "simple", restart = "on-failure", service = [] } = options;
  const unit = `hello-${++made}.service`;
  const systemdDir = join(host.root, "etc/systemd/system");
  return {
    /** Another one after each boot. */
    get place() {
      return {
        systemd: { command: [...host.inside(), "systemctl"] as const, systemdDir, procDir: host.proc() },
      };
    },
    config: { runtime: "systemd", unit },
    async setUp({ install_path }: FileProgram): Promise<void> {
      const lines = [
        ["[Unit]", "Description=a program of the tests"],
        ["[Service]", `Type=${type}`, `ExecStart=${install_path}`, `Restart=${restart}`, ...service],
        ["[Install]", "WantedBy=multi-user.target", ""],
      ];
      await writeFile(join(systemdDir, unit), lines.flat().join("\n"));
      await host.exec("systemctl", "daemon-reload");
    },
    async tearDown(): Promise<void> {
      await rm(join(systemdDir, unit), { force: true });
      await rm(join(systemdDir, `${unit}.d`), { recursive: true, force: true });
    },
  };
}
