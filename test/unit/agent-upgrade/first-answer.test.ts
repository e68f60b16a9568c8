import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { firstAnswer } from "../../../src/agent/programs/first-answer.ts";
import { LIMITS } from "../../../src/core/limits.ts";
import { systemClock } from "../../../src/host/clock.ts";
import { freePort } from "../../support/programs/free-port.ts";

const servers: Server[] = [];
afterEach(() => servers.splice(0).forEach((server) => server.close()));

const never = (): AbortSignal => new AbortController().signal;

function listen(port: number, status: number): Promise<number> {
  const server = createServer((_, response) => response.writeHead(status).end());
  servers.push(server);
  return new Promise((done) =>
    server.listen(port, "127.0.0.1", () => done((server.address() as AddressInfo).port)),
  );
}

test("ROLL-15: a program that begins to listen after its start is waited for, degraded or not", async () => {
  const port = await freePort();
  let answered = false;
  const waiting = firstAnswer({ url: `http://127.0.0.1:${port}/` }, systemClock, never()).then(
    () => (answered = true),
  );
  await new Promise((done) => setTimeout(done, 120));
  expect(answered).toBe(false);
  await listen(port, 503);
  await waiting;
});

test("ROLL-15: a program that never listens is given up after its time, and a leaving agent does not wait", async () => {
  const health = { url: `http://127.0.0.1:${await freePort()}/` };
  let now = 0;
  const clock = { now: () => 0, monotonic: () => (now += LIMITS.firstAnswerWaitMs / 4) };
  await firstAnswer(health, clock, never());
  expect(now).toBeGreaterThan(LIMITS.firstAnswerWaitMs);
  await expect(firstAnswer(health, systemClock, AbortSignal.abort())).rejects.toThrow();
});
