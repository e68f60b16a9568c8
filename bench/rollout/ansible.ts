/** P1's peer: ansible-core on local hosts. From Debian, when we may install. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { minimalEnv, run } from "../../src/host/process.ts";
import type { Workplace } from "../support/workplace.ts";

const HOSTS = 40;
/** More than its default of 5: what is fastest on a small machine. */
const FORKS = 10;
const INSTALL_TIMEOUT_MS = 300_000;
const PLAY_TIMEOUT_MS = 180_000;
const ENV = { ...minimalEnv(), LC_ALL: "C.UTF-8", DEBIAN_FRONTEND: "noninteractive" };

export interface AnsibleRates {
  /** The module that does nothing but answer. */
  readonly answer: number;
  /** One small file on each host: the least that a change of a machine is. */
  readonly file: number;
}

/** Hosts per second; null where there is no ansible and none can be had. */
export async function ansibleRates(place: Workplace): Promise<AnsibleRates | null> {
  if (!(await isThere()) && !(await install(place))) return null;
  const folder = join(place.folder, "ansible");
  await mkdir(folder);
  const dest = join(folder, "{{ inventory_hostname }}.txt");
  return {
    answer: await rateOf(place, folder, { "ansible.builtin.ping": {} }),
    file: await rateOf(place, folder, { "ansible.builtin.copy": { content: "bench", dest, mode: "0600" } }),
  };
}

async function rateOf(place: Workplace, folder: string, task: object): Promise<number> {
  const hosts = Array.from({ length: HOSTS }, (_, at) => `host-${at} ansible_connection=local`);
  await writeFile(join(folder, "hosts"), `${hosts.join("\n")}\n`);
  await writeFile(
    join(folder, "play.json"),
    JSON.stringify([{ hosts: "all", gather_facts: false, tasks: [task] }]),
  );
  const began = performance.now();
  const played = await run("ansible-playbook", ["-i", "hosts", "-f", String(FORKS), "play.json"], {
    cwd: folder,
    env: {
      ...ENV,
      HOME: folder,
      ANSIBLE_PYTHON_INTERPRETER: "/usr/bin/python3",
      ANSIBLE_REMOTE_TEMP: join(folder, "tmp"),
    },
    timeoutMs: PLAY_TIMEOUT_MS,
    signal: place.signal,
  });
  const seconds = (performance.now() - began) / 1000;
  const said = played.kind === "not_started" ? played.errno : played.stdout.toString("utf8");
  const answered = [...said.matchAll(/ok=1\b.*unreachable=0\b.*failed=0\b/g)].length;
  if (answered !== HOSTS)
    throw new Error(`ansible reached ${answered} of ${HOSTS} hosts: ${said.slice(-1000)}`);
  return HOSTS / seconds;
}

async function isThere(): Promise<boolean> {
  const asked = await run("ansible-playbook", ["--version"], { timeoutMs: 30_000, env: ENV });
  return asked.kind === "exited" && asked.code === 0;
}

async function install(place: Workplace): Promise<boolean> {
  if (process.getuid?.() !== 0) return false;
  place.say("P1: installing ansible-core from Debian, the peer");
  const apt = async (...args: string[]): Promise<boolean> => {
    const done = await run("apt-get", args, {
      timeoutMs: INSTALL_TIMEOUT_MS,
      signal: place.signal,
      env: ENV,
      maxOutputBytes: 16e6,
    });
    return done.kind === "exited" && done.code === 0;
  };
  const packages = ["install", "-y", "-q", "--no-install-recommends", "ansible-core"];
  return (await apt(...packages)) || ((await apt("update", "-q")) && (await apt(...packages)));
}
