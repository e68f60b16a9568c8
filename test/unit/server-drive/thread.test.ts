// The drive worker as its starter sees it: real threads, which send the messages of a drive.

import { Worker } from "node:worker_threads";
import { afterEach, expect, test, vi } from "vitest";
import { createDriveThread } from "../../../src/server/drive/thread.ts";
import type { DriveSettings } from "../../../src/server/drive/thread-messages.ts";

const NO_SETTINGS = {} as DriveSettings;
const IGNORED = { onCounts: () => undefined, onParcels: () => undefined };

/** A thread that answers each kind of message with what is named for it. */
const SAYS = `
  const { parentPort } = require("node:worker_threads");
  const say = (message) => parentPort.postMessage(message);
  parentPort.on("message", (message) => { on[message.kind](message); });
  const on = { stop: () => parentPort.close() };`;

const threads: Worker[] = [];
afterEach(async () => {
  for (const thread of threads.splice(0)) await thread.terminate();
});

function threadOf(source: string) {
  const lost = vi.fn<(error: Error) => void>();
  const worker = new Worker(source, { eval: true, stderr: true });
  threads.push(worker);
  return { lost, drive: createDriveThread(lost, worker) };
}

test("what the thread says reaches its listener in order, and its answers whoever asked", async () => {
  const { drive, lost } = threadOf(`${SAYS}
    on.start = () => { say({ kind: "started" }); say({ kind: "counts", counts: 1 }); say({ kind: "parcels", parcels: 2 }); };
    on.answers = ({ id }) => say({ kind: "answer", id, answers: id === 2 });`);
  const heard: unknown[] = [];
  const listener = {
    onCounts: (one: unknown) => heard.push(one),
    onParcels: (one: unknown) => heard.push(one),
  };
  await drive.start(NO_SETTINGS, listener);
  expect(await Promise.all([drive.answers(), drive.answers()])).toEqual([false, true]);
  expect(heard).toEqual([1, 2]);
  await drive.stop();
  expect(lost).not.toHaveBeenCalled();
});

test("a start that the thread refuses is refused with its code", async () => {
  const { drive } = threadOf(`${SAYS}
    on.start = () => say({ kind: "refused", code: "UNREACHABLE", message: "the engine is not there" });`);
  await expect(drive.start(NO_SETTINGS, IGNORED)).rejects.toMatchObject({
    code: "UNREACHABLE",
    message: "the engine is not there",
  });
});

test.each([
  ["exits", "process.exit(3)", "drive worker exited with code 3"],
  ["throws", "throw new Error('a bug')", "a bug"],
])(
  "USE-5: a drive worker that %s by itself is reported once, with the cause, and answers no more",
  async (_how, end, cause) => {
    const { drive, lost } = threadOf(
      `${SAYS} on.start = () => say({ kind: "started" }); on.answers = () => { ${end}; };`,
    );
    await drive.start(NO_SETTINGS, IGNORED);
    expect(await drive.answers()).toBe(false);
    await vi.waitUntil(() => lost.mock.calls.length > 0);
    expect(await drive.answers()).toBe(false);
    await drive.stop();
    expect(lost).toHaveBeenCalledOnce();
    expect(lost).toHaveBeenCalledWith(expect.objectContaining({ message: cause }));
  },
);

test("a thread that was never started leaves when it is told to, and nobody has lost it", async () => {
  const { drive, lost } = threadOf(SAYS);
  await drive.stop();
  expect(lost).not.toHaveBeenCalled();
});

test("log lines of the thread reach this process's stderr through its own writer, which survives a full disk", async () => {
  const written: string[] = [];
  const write = vi
    .spyOn(process.stderr, "write")
    .mockImplementation((chunk) => written.push(String(chunk)) > 0);
  try {
    const { drive } = threadOf(`${SAYS}
      on.start = () => { process.stderr.write("a line of the thread\\n"); say({ kind: "started" }); };`);
    await drive.start(NO_SETTINGS, IGNORED);
    await vi.waitFor(() => expect(written.join("")).toContain("a line of the thread\n"), { timeout: 30_000 });
  } finally {
    write.mockRestore();
  }
});
