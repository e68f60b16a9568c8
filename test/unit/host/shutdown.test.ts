import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { sleep } from "../../../src/host/clock.ts";
import { silentLogger } from "../../../src/host/log.ts";
import { createShutdown } from "../../../src/host/shutdown.ts";

function machine() {
  const host = Object.assign(new EventEmitter(), {
    exits: [] as number[],
    exit: (code: number) => host.exits.push(code),
  });
  const shutdown = createShutdown({ log: silentLogger, cleanupTimeoutMs: 50, host: host as never });
  return { host, ...shutdown };
}

test("cleanups run last registered first, and a failing or hanging one keeps none from running", async () => {
  const { onShutdown, shutdown, signal } = machine();
  const order: string[] = [];
  onShutdown("first", () => void order.push("first"));
  onShutdown("hangs", async () => new Promise(() => undefined));
  onShutdown("fails", () => {
    throw new Error("no");
  });
  const takeBack = onShutdown("taken back", () => void order.push("taken back"));
  onShutdown("last", async () => void order.push("last"));
  takeBack();
  expect(signal.aborted).toBe(false);
  await Promise.all([shutdown("done"), shutdown("again")]);
  expect(signal.aborted).toBe(true);
  expect(order).toEqual(["last", "first"]);
});

test("a signal cleans up and exits with its code; a second one leaves at once", async () => {
  const { host, onShutdown } = machine();
  onShutdown("slow", async () => void (await sleep(40)));
  host.emit("SIGTERM");
  expect(host.exits).toEqual([]);
  host.emit("SIGINT");
  expect(host.exits[0]).toBe(130);
  await sleep(80);
  expect(host.exits).toContain(143);
});

test("sleep ends when its time is over, or at an abort", async () => {
  expect(await sleep(1)).toBe("elapsed");
  const abort = new AbortController();
  const sleeping = sleep(60_000, abort.signal);
  abort.abort();
  expect(await sleeping).toBe("aborted");
  expect(await sleep(60_000, abort.signal)).toBe("aborted");
});
