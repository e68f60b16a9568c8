/**
 * Where shims live under systemd: outside the agent's own unit, because stopping a unit stops every process in its
 * control group unless the unit says otherwise (KillMode=control-group is the default), and programs outlive agents.
 *
 * 1. In a service, each shim is started in a scope of its own (`systemd-run --scope`), in `fairlead.slice`.
 * 2. Where that does not work, and stopping the agent's unit would stop its programs, the agent refuses to run.
 * 3. Outside a service, in a shell or a container, shims are started as they are.
 */
import { existsSync } from "node:fs";
import { FairleadError } from "../core/errors.ts";
import { readBounded } from "../host/files.ts";
import type { Logger } from "../host/log.ts";
import { minimalEnv, run } from "../host/process.ts";

const SYSTEMD_BOOTED = "/run/systemd/system";
const OWN_CGROUPS = "/proc/self/cgroup";
const CGROUPS_BYTES_MAX = 64 * 1024;
const SCOPE = ["--scope", "--quiet", "--collect", "--slice=fairlead.slice", "--"];
const USER_MANAGER = /^user@\d+\.service$/;
const ASK_MS = 10_000;
const SAID_CHARS_MAX = 300;

export interface OwnService {
  readonly unit: string;
  /** Of a user's own manager. */
  readonly isUser: boolean;
}

/** The service that a process belongs to, by its `/proc/PID/cgroup`: v2, v1 and the hybrid of both. */
export function serviceOf(cgroups: string): OwnService | null {
  const paths = cgroups.split("\n").flatMap((line) => {
    const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    return path !== undefined && (controllers === "" || controllers === "name=systemd") ? [path] : [];
  });
  for (const path of paths) {
    const parts = path.split("/");
    // A service may run its processes in a group below its own (DelegateSubgroup=).
    const unit = parts.findLast((part) => part.endsWith(".service") && !USER_MANAGER.test(part));
    if (unit !== undefined) return { unit, isUser: parts.some((part) => USER_MANAGER.test(part)) };
  }
  return null;
}

/** The prefix of a shim's command line; empty outside a service. Throws AGENT_STOP_KILLS: (2). */
export async function shimPrefix(log: Pick<Logger, "warn">): Promise<readonly string[]> {
  const service = existsSync(SYSTEMD_BOOTED) ? await ownService() : null;
  if (service === null) return []; // (3)
  const { unit, isUser } = service;
  const [bus, manager] = isUser ? [ofUser(), ["--user"]] : [[], []];
  const scope = [...bus, "systemd-run", ...manager, ...SCOPE];
  const tried = await ask([...scope, "true"]);
  if (tried.kind === "done") return scope; // (1)
  const killMode = await ask([
    ...bus,
    "systemctl",
    ...manager,
    "show",
    "--property=KillMode",
    "--value",
    unit,
  ]);
  if (killMode.kind === "done" && ["process", "none"].includes(killMode.said)) {
    log.warn("shims stay in the agent's unit", { unit, kill_mode: killMode.said, reason: tried.said });
    return [];
  }
  throw new FairleadError(
    "AGENT_STOP_KILLS",
    `stopping ${unit} would stop its programs, and systemd-run --scope does not work here: ${tried.said}`,
  ); // (2)
}

const ownService = async (): Promise<OwnService | null> =>
  serviceOf((await readBounded(OWN_CGROUPS, CGROUPS_BYTES_MAX)).toString("utf8"));

/** A user's manager is found by the folder of its socket, and a child gets nothing of our environment. */
const ofUser = (): string[] => ["env", `XDG_RUNTIME_DIR=${process.env["XDG_RUNTIME_DIR"] ?? ""}`];

async function ask([file, ...args]: readonly string[]) {
  const ran = await run(file!, args, { env: minimalEnv(), timeoutMs: ASK_MS });
  if (ran.kind === "not_started") return { kind: "failed", said: `${file}: ${ran.errno}` } as const;
  if (ran.kind === "exited" && ran.code === 0)
    return { kind: "done", said: ran.stdout.toString("utf8").trim() } as const;
  const said = ran.stderr.toString("utf8").trim().slice(0, SAID_CHARS_MAX);
  return { kind: "failed", said: said === "" ? `${file}: ${ran.kind}` : said } as const;
}
