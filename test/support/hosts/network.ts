/**
 * A network of the hosts' own: one namespace for each, and a hub between them where the lab's server lives. Nothing
 * of it is in this machine's network; the test speaks to the hub's loopback through a socket, and hosts to the test
 * through one.
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { minimalEnv, run, spawnChild } from "../../../src/host/process.ts";
import {
  identityOf,
  killProcess,
  type ProcessIdentity,
  stopProcess,
  waitForExit,
} from "../../../src/host/process-identity.ts";
import { type Gateway, openGateway } from "../docker/gateway.ts";
import { freePort } from "../programs/free-port.ts";
import { until } from "../programs/until.ts";

const COMMAND_TIMEOUT_MS = 10_000;
const GRACE_MS = 5_000;
const SUBNET = "10.231.0";

export type HostNetwork = Awaited<ReturnType<typeof hostNetwork>>;

/** `hub` and `hosts` name network namespaces that this makes. */
export async function hostNetwork(folder: string, hub: string, hosts: readonly string[]) {
  const address = `${SUBNET}.1`;
  const inside = ["nsenter", `--net=/run/netns/${hub}`] as const;
  const started: ProcessIdentity[] = [];
  const gateways: Gateway[] = [];
  const socket = join(folder, "gateway.sock");

  async function startInside(script: string, ...args: readonly string[]): Promise<void> {
    const [nsenter, net] = inside;
    const stdio = ["ignore", "ignore", "inherit"] as ("ignore" | "inherit")[];
    const { child, identity } = await spawnChild(
      nsenter,
      [net, process.execPath, fileURLToPath(script), ...args],
      {
        env: minimalEnv(),
        stdio,
      },
    );
    child.unref();
    started.push(identity);
  }

  await ip("netns", "add", hub);
  await ip("-n", hub, "link", "set", "lo", "up");
  await ip("-n", hub, "link", "add", "br0", "type", "bridge");
  await ip("-n", hub, "addr", "add", `${address}/24`, "dev", "br0");
  await ip("-n", hub, "link", "set", "br0", "up");
  for (const [index, host] of hosts.entries()) {
    const port = `h${index}`;
    await ip("netns", "add", host);
    await ip("-n", hub, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", host);
    await ip("-n", hub, "link", "set", port, "master", "br0", "up");
    await ip("-n", host, "link", "set", "lo", "up");
    await ip("-n", host, "addr", "add", `${addressOf(index)}/24`, "dev", "eth0");
    await ip("-n", host, "link", "set", "eth0", "up");
  }
  await startInside(import.meta.resolve("../docker/gateway-child.ts"), socket);

  return {
    /** By which hosts know the hub. */
    address,
    /** Runs in the hub whatever is appended to it. */
    inside,
    addressOf,
    /** A port of this machine's loopback that leads to one of the hub's. */
    async open(port: number): Promise<number> {
      const outside = await freePort();
      gateways.push(await openGateway(socket, port, outside));
      return outside;
    },
    /** A port at the hub's address that leads to a socket of the test's. */
    async offer(port: number, socketPath: string): Promise<void> {
      await startInside(import.meta.resolve("./offer-child.ts"), address, String(port), socketPath);
      await until("the hub listens", async () => {
        const shown = await run(inside[0], [inside[1], "ss", "-Hltn", `sport = :${port}`], {
          timeoutMs: COMMAND_TIMEOUT_MS,
        });
        return shown.kind === "exited" && shown.stdout.length > 0;
      });
    },
    /** Pulls a host's cable, or puts it back. */
    async link(index: number, state: "up" | "down"): Promise<void> {
      await ip("-n", hub, "link", "set", `h${index}`, state);
    },
    async close(): Promise<void> {
      for (const gateway of gateways) await gateway.close();
      for (const identity of started) await stopProcess(identity, { graceMs: GRACE_MS });
      for (const name of [hub, ...hosts]) await removeNamespace(name);
    },
  };
}

const addressOf = (index: number): string => `${SUBNET}.${index + 10}`;

/** What still lives in it is of a run that crashed. */
export async function removeNamespace(name: string): Promise<void> {
  const shown = await run("ip", ["netns", "pids", name], { timeoutMs: COMMAND_TIMEOUT_MS });
  if (shown.kind !== "exited" || shown.code !== 0) return; // there is none
  for (const pid of shown.stdout.toString().split("\n").filter(Boolean).map(Number)) {
    const identity = identityOf(pid);
    if (identity === undefined) continue;
    killProcess(identity, "SIGKILL");
    await waitForExit(identity, GRACE_MS);
  }
  await ip("netns", "del", name);
}

async function ip(...args: readonly string[]): Promise<void> {
  const result = await run("ip", args, { timeoutMs: COMMAND_TIMEOUT_MS });
  if (result.kind === "exited" && result.code === 0) return;
  throw new Error(`ip ${args.join(" ")}: ${"stderr" in result ? result.stderr.toString() : result.kind}`);
}
