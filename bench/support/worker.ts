/**
 * A benchmark's other processes: each file serves a few named jobs, asked over the IPC channel.
 *
 * 1. A worker whose parent is gone leaves by itself.
 */
import { fork, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Workplace } from "./workplace.ts";

/** Jobs of a worker by name. The compiler takes each one's input and answer from here. */
type Jobs = Readonly<Record<string, (input: never) => Promise<unknown>>>;

interface Question {
  readonly id: number;
  readonly job: string;
  readonly input: unknown;
}

interface Answer {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: string;
}

export function serveJobs(jobs: Jobs): void {
  process.on("disconnect", () => process.exit(0)); // (1)
  process.on("SIGINT", () => undefined); // a terminal's Ctrl-C is for the parent, which ends us in order
  process.on("message", (question: Question) => {
    const work = (jobs[question.job] as (input: unknown) => Promise<unknown>)(question.input);
    work.then(
      (value) => process.send!({ id: question.id, value } satisfies Answer),
      (error: unknown) => process.send!({ id: question.id, error: String(error) } satisfies Answer),
    );
  });
}

export interface Worker<J extends Jobs> {
  readonly pid: number;
  ask<K extends keyof J & string>(job: K, input: Parameters<J[K]>[0]): Promise<Awaited<ReturnType<J[K]>>>;
}

export function startWorker<J extends Jobs>(place: Workplace, file: URL): Worker<J> {
  const child = fork(fileURLToPath(file), [], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>();
  let asked = 0;
  place.undo("worker", () => endOf(child));
  child.on("message", ({ id, value, error }: Answer) => {
    const one = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) one?.resolve(value as never);
    else one?.reject(new Error(error));
  });
  child.on("exit", (code, signal) => {
    for (const { reject } of waiting.values()) reject(new Error(`the worker left: ${signal ?? code}`));
    waiting.clear();
  });
  return {
    pid: child.pid!,
    ask: (job, input) =>
      new Promise((resolve, reject) => {
        asked += 1;
        waiting.set(asked, { resolve, reject });
        child.send({ id: asked, job, input } satisfies Question);
      }),
  };
}

function endOf(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once("exit", () => resolve());
    child.kill("SIGKILL"); // it holds sockets and nothing else
  });
}
