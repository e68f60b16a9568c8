/**
 * Ports for programs that tests start.
 *
 * 1. A port is claimed by a UDP socket of the same number, which this process holds until it exits: the kernel keeps
 *    every other test process from the same port, in this run and in any other, and nothing is left to clean up.
 * 2. Ports lie below the range that the kernel gives to outgoing connections, so a restarted program finds its port free.
 */
import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { createServer } from "node:net";

const [FIRST, END] = [20_000, 32_000]; // (2)

export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, END);
    if ((await claim(port)) && (await isFree(port))) return port;
  }
}

/** `count` ports in a row, the first of which ends in 1. */
export async function freePorts(count: number): Promise<number[]> {
  for (;;) {
    const first = randomInt(FIRST / 10, END / 10) * 10 + 1;
    const ports = Array.from({ length: count }, (_, index) => first + index);
    const free = await Promise.all(ports.map(async (port) => (await claim(port)) && isFree(port)));
    if (!free.includes(false)) return ports;
  }
}

function claim(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = createSocket("udp4");
    socket.once("error", () => done(false));
    socket.bind(port, "127.0.0.1", () => {
      socket.unref(); // (1)
      done(true);
    });
  });
}

function isFree(port: number): Promise<boolean> {
  return new Promise((done) => {
    const server = createServer();
    server.once("error", () => done(false));
    server.listen(port, "127.0.0.1", () => server.close(() => done(true)));
  });
}
