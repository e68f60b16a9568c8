/** Real systemd hosts for a test file, and the end of them; what a crashed run left behind ends first. */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { mountsUnder, unmount } from "../docker/left-over.ts";
import { CGROUP_ROOTS, removeCgroups } from "./cgroups.ts";
import { type Host, type HostOptions, startHost } from "./host.ts";
import { leftOverIn, nextName } from "./names.ts";
import { type HostNetwork, hostNetwork, removeNamespace } from "./network.ts";

/** Not below /tmp, which a host mounts for itself. */
const PARENT = "/var/tmp";
const NAMESPACES = "/run/netns";

export interface Hosts {
  readonly all: readonly Host[];
  stop(): Promise<void>;
}

export interface HostsOptions {
  readonly count: number;
  /** See `startHost`. */
  readonly diskBytes?: number;
}

export interface NetworkedHosts extends Hosts {
  readonly network: HostNetwork;
}

/** On this machine's network: what they run must keep to loopback. */
export async function startHosts({ count, diskBytes }: HostsOptions): Promise<Hosts> {
  await removeLeftOverHosts();
  const names = Array.from({ length: count }, nextName);
  const stop = async (): Promise<void> => {
    for (const name of names) await removeHost(name);
  };
  const disk = diskBytes === undefined ? {} : { diskBytes };
  return orStop(stop, async () => ({ all: await startAll(names, (name) => start(name, disk)), stop }));
}

/** Each in a network namespace of its own, with a hub between them for `startLab({ network })`. */
export async function startNetworkedHosts({
  count,
  isFresh = false,
}: {
  readonly count: number;
  readonly isFresh?: boolean;
}): Promise<NetworkedHosts> {
  await removeLeftOverHosts();
  const hub = nextName();
  const names = Array.from({ length: count }, nextName);
  let network: HostNetwork | undefined;
  const stop = async (): Promise<void> => {
    for (const name of names) await removeHost(name);
    await network?.close();
    await removeHost(hub);
  };
  return orStop(stop, async () => {
    await mkdir(join(PARENT, hub), { mode: 0o700 });
    network = await hostNetwork(join(PARENT, hub), hub, names);
    const all = await startAll(names, (name) => start(name, { networkNamespace: name, isFresh }));
    return { all, network, stop };
  });
}

/** A few at a time: they share the machine's processors while they boot. */
async function startAll(names: readonly string[], start: (name: string) => Promise<Host>): Promise<Host[]> {
  const all: Host[] = [];
  for (let n = 0; n < names.length; n += 4)
    all.push(...(await Promise.all(names.slice(n, n + 4).map(async (name) => start(name)))));
  return all;
}

type StartOptions = Pick<HostOptions, "diskBytes" | "networkNamespace" | "isFresh">;

async function start(name: string, options: StartOptions): Promise<Host> {
  const folder = join(PARENT, name);
  await mkdir(folder, { mode: 0o711 });
  return startHost({ name, folder, shared: join(folder, "shared"), ...options });
}

/** Its processes end with its groups; its mounts end with its processes. */
async function removeHost(name: string): Promise<void> {
  await removeCgroups(name);
  await removeNamespace(name);
  for (const path of await mountsUnder(join(PARENT, name))) await unmount(path);
  await rm(join(PARENT, name), { recursive: true, force: true });
}

async function orStop<T>(stop: () => Promise<void>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await stop();
    throw error;
  }
}

/** By name, and only what no living process made. */
export async function removeLeftOverHosts(): Promise<void> {
  const named = await Promise.all([...CGROUP_ROOTS, PARENT, NAMESPACES].map(leftOverIn));
  for (const name of new Set(named.flat())) await removeHost(name);
}
