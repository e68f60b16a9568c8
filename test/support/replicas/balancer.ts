/** haproxy in TCP mode: one address for several servers, of which it knows who is alive. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { minimalEnv } from "../../../src/host/process.ts";
import type { LabProcesses } from "../lab/processes.ts";

const HAPROXY = "/usr/sbin/haproxy";

export interface Balanced {
  readonly name: string;
  readonly port: number;
  readonly backends: readonly number[];
  /** Asked by GET; without it a connection is enough. */
  readonly healthPath?: string;
}

export async function startBalancer(
  folder: string,
  processes: LabProcesses,
  balanced: readonly Balanced[],
): Promise<void> {
  const file = join(folder, "haproxy.cfg");
  await writeFile(file, [DEFAULTS, ...balanced.map(sectionOf)].join("\n"));
  await processes.start("haproxy", HAPROXY, ["-db", "-f", file], { cwd: folder, env: minimalEnv() });
}

const DEFAULTS = `global
  maxconn 1000
defaults
  mode tcp
  timeout connect 2s
  timeout client 60s
  timeout server 60s
  timeout check 1s
  retries 2
  option redispatch
`;

function sectionOf({ name, port, backends, healthPath }: Balanced): string {
  const servers = backends.map(
    (backend, at) =>
      `  server s${at + 1} 127.0.0.1:${backend} check inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions`,
  );
  return [
    `listen ${name}`,
    `  bind 127.0.0.1:${port}`,
    "  balance leastconn",
    ...(healthPath === undefined ? [] : [`  option httpchk GET ${healthPath}`]),
    ...servers,
    "",
  ].join("\n");
}
