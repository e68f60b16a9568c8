/** One real systemd host: booted by systemd-nspawn, driven from outside, switched off and on again. */
import { closeSync, openSync } from "node:fs";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { minimalEnv, run, type RunResult, spawnDetached } from "../../../src/host/process.ts";
import {
  identityOf,
  killProcess,
  type ProcessIdentity,
  waitForExit,
} from "../../../src/host/process-identity.ts";
import { until } from "../programs/until.ts";
import { makeCgroups, removeCgroups } from "./cgroups.ts";
import { makePackageDatabase, makeRoot } from "./root-folder.ts";

const PROJECT = fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, "");
const ALL_NAMESPACES = ["-m", "-u", "-i", "-n", "-p", "-r", "-w"];
const COMMAND_TIMEOUT_MS = 30_000;
const OFF_WITHIN_MS = 15_000;

/** Joins the groups whose lists come first, then becomes what comes after `--`. Nothing is put into the text. */
const JOIN_AND_EXEC = 'while [ "$1" != -- ]; do echo $$ > "$1" || exit 1; shift; done; shift; exec "$@"';

export interface HostOptions {
  readonly name: string;
  /** Holds the host's root and its console's log. */
  readonly folder: string;
  /** Seen inside under the same path, writable. */
  readonly shared: string;
  /** Makes `shared` a disk of this size, which can be full. */
  readonly diskBytes?: number;
  /** Without one, the network of whoever starts it. */
  readonly networkNamespace?: string;
  /** Packages can be installed on it, and nothing of the project is there. */
  readonly isFresh?: boolean;
}

export type Host = Awaited<ReturnType<typeof startHost>>;

export async function startHost(options: HostOptions) {
  const { name, folder, shared, diskBytes, networkNamespace, isFresh = false } = options;
  const root = join(folder, "root");
  await mkdir(shared, { recursive: true });
  if (diskBytes !== undefined) await mountDisk(shared, diskBytes);
  await makeRoot(root);
  if (isFresh) await makePackageDatabase(root);
  const ownUsr = join(folder, "usr");
  if (isFresh) await mkdir(ownUsr);
  const nspawn = [
    ["systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--boot", `--machine=${name}`],
    ["--console=pipe", `--directory=${root}`, `--bind=${shared}`],
    isFresh ? [`--overlay=/usr:${ownUsr}:/usr`] : ["--bind-ro=/usr", `--bind-ro=${PROJECT}`],
    ["--capability=all", "--system-call-filter=@keyring bpf"],
    networkNamespace === undefined ? [] : [`--network-namespace-path=/run/netns/${networkNamespace}`],
  ].flat();
  let booted: { readonly nspawn: ProcessIdentity; readonly leader: ProcessIdentity } | undefined;

  const leader = (): ProcessIdentity => {
    if (booted === undefined) throw new Error(`${name} is off`);
    return booted.leader;
  };
  /** Runs in the host whatever is appended to it. */
  const inside = (): [string, ...string[]] => ["nsenter", "-t", String(leader().pid), ...ALL_NAMESPACES];
  async function exec(file: string, ...args: readonly string[]): Promise<RunResult> {
    const [nsenter, ...into] = inside();
    return run(nsenter, [...into, file, ...args], { env: minimalEnv(), timeoutMs: COMMAND_TIMEOUT_MS });
  }

  async function boot(): Promise<void> {
    const lists = await makeCgroups(name);
    const log = openSync(join(folder, "console.log"), "a", 0o600);
    try {
      const args = ["-c", JOIN_AND_EXEC, "sh", ...lists, "--", ...nspawn];
      const started = await spawnDetached("/bin/sh", args, { stdio: ["ignore", log, log] });
      const first = await until(`${name} has a leader`, async () => leaderOf(started));
      booted = { nspawn: started, leader: first };
    } finally {
      closeSync(log);
    }
    await until(`${name} is up`, async () => {
      const state = await exec("systemctl", "is-system-running", "--wait");
      return state.kind === "exited" && /^(running|degraded)/.test(state.stdout.toString());
    });
  }

  /** As when the cable is pulled: nothing inside hears of it. */
  async function cutPower(): Promise<void> {
    if (booted === undefined) return;
    killProcess(booted.leader, "SIGKILL");
    if ((await waitForExit(booted.nspawn, OFF_WITHIN_MS)) === "alive") throw new Error(`${name} stays on`);
    booted = undefined;
    await removeCgroups(name);
  }

  /** As an operator asks for it: systemd stops every unit first. */
  async function shutDown(): Promise<void> {
    if (booted === undefined) return;
    await exec("systemctl", "poweroff");
    await waitForExit(booted.nspawn, OFF_WITHIN_MS);
    await cutPower(); // what did not stop in time, and the groups
  }

  /** Another machine in its place: nothing of the one before is on its disks. It is off. */
  async function replace(): Promise<void> {
    await cutPower();
    await rm(root, { recursive: true, force: true });
    for (const entry of await readdir(shared)) await rm(join(shared, entry), { recursive: true });
    await makeRoot(root);
  }

  await boot();
  // This machine's own rule, that packages start no service.
  if (isFresh) await exec("rm", "-f", "/usr/sbin/policy-rc.d");
  return {
    name,
    root,
    shared,
    /** Its processes, by the pids that they have inside. */
    proc: () => `/proc/${leader().pid}/root/proc`,
    isOn: () => booted !== undefined,
    inside,
    exec,
    boot,
    cutPower,
    shutDown,
    replace,
    /** What it printed, and the journal of a unit. */
    async tell(unit: string, lines = 50): Promise<string> {
      const journal = await exec("journalctl", "--no-pager", "-u", unit, "-n", String(lines));
      return "stdout" in journal ? journal.stdout.toString() : journal.kind;
    },
    console: () => readFile(join(folder, "console.log"), "utf8"),
  };
}

async function mountDisk(path: string, bytes: number): Promise<void> {
  const options = `size=${bytes},mode=0700`;
  const mounted = await run("mount", ["-t", "tmpfs", "-o", options, "tmpfs", path], {
    timeoutMs: COMMAND_TIMEOUT_MS,
  });
  if (mounted.kind !== "exited" || mounted.code !== 0)
    throw new Error(`mount ${path}: ${"stderr" in mounted ? mounted.stderr.toString() : mounted.kind}`);
}

/** The host's first process. Those that come before it prepare its place, and leave. */
async function leaderOf(nspawn: ProcessIdentity): Promise<ProcessIdentity | undefined> {
  const children = await readFile(`/proc/${nspawn.pid}/task/${nspawn.pid}/children`, "utf8");
  for (const pid of children.trim().split(" ").filter(Boolean).map(Number)) {
    const identity = identityOf(pid);
    const comm = await readFile(`/proc/${pid}/comm`, "utf8").catch(() => "");
    if (comm === "systemd\n") return identity;
  }
  return undefined;
}
