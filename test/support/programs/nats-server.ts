// A real nats-server on a port of its own, which can be stopped and started again.

import { spawn, type ChildProcess } from "node:child_process";
import { connect as connectSocket } from "node:net";
import { until } from "./until.ts";
import { freePort } from "./free-port.ts";

/** From the Debian package of that name. */
const NATS_SERVER = "/usr/sbin/nats-server";

export interface NatsServer {
  /** For whoever lives where it does. */
  readonly url: string;
  /** For the test. */
  readonly outsideUrl: string;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface NatsPlace {
  /** A command that runs what is appended to it in another network. */
  readonly inside?: readonly string[];
  /** The port of ours that leads to one of that network's. */
  readonly open?: (port: number) => Promise<number>;
}

export async function natsServer(args: readonly string[] = [], place: NatsPlace = {}): Promise<NatsServer> {
  const { inside = [], open = async (port: number) => port } = place;
  const port = await freePort();
  const outside = await open(port);
  const [file, ...before] = [...inside, NATS_SERVER];
  let child: ChildProcess | undefined;
  return {
    url: `nats://127.0.0.1:${port}`,
    outsideUrl: `nats://127.0.0.1:${outside}`,
    async start() {
      child = spawn(file, [...before, "-a", "127.0.0.1", "-p", String(port), ...args], { stdio: "ignore" });
      await until("nats-server listens", () => answers(outside));
    },
    async stop() {
      const running = child;
      child = undefined;
      if (running === undefined || running.exitCode !== null) return;
      const ended = new Promise((done) => running.once("exit", done));
      running.kill("SIGKILL");
      await ended;
    },
  };
}

const answers = (port: number): Promise<boolean> =>
  new Promise((done) => {
    const socket = connectSocket(port, "127.0.0.1");
    const end = (is: boolean) => {
      socket.destroy();
      done(is);
    };
    socket.once("data", () => end(true));
    socket.once("error", () => end(false));
    socket.once("close", () => end(false));
  });
