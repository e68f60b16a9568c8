/**
 * Steps have a thread of their own (ADR 15): agents by the thousand do not keep a decision waiting, nor it them.
 *
 * 1. It is begun before its settings are known: its modules load while the database starts.
 * 2. Lost by itself, it takes this replica along: one that decides nothing must not look alive.
 * 3. Its log lines pass through this thread's stderr, which survives a full disk.
 */
import { once } from "node:events";
import { getCompileCacheDir } from "node:module";
import { Worker } from "node:worker_threads";
import type { ErrorCode } from "../../core/error-codes.ts";
import { FairleadError, unreachable } from "../../core/errors.ts";
import { writeStderr } from "../../host/log.ts";
import { siblingModule } from "../../host/sibling-module.ts";
import type { StepCounts } from "../metrics/rollout-metrics.ts";
import type { Parcels } from "../rollout/parcel.ts";
import type { RunningDrive } from "./drive.ts";
import type { DriveSettings, FromThread, ThreadData, ToThread } from "./thread-messages.ts";

export interface ThreadListener {
  onCounts(counts: StepCounts): void;
  onParcels(parcels: Parcels): void;
}

export interface DriveThread extends RunningDrive {
  start(settings: DriveSettings, listener: ThreadListener): Promise<void>;
}

interface Starting {
  readonly listener: ThreadListener;
  resolve(): void;
  reject(error: Error): void;
}

/** `onLost`: (2). */
export function createDriveThread(onLost: (error: Error) => void, worker = startWorker()): DriveThread {
  const questions = new Map<number, (answers: boolean) => void>();
  let asked = 0;
  let isLeaving = false;
  let starting: Starting | undefined;
  const say = (message: ToThread): void => worker.postMessage(message, []);

  function hear(message: FromThread): void {
    switch (message.kind) {
      case "started":
        return starting?.resolve();
      case "refused":
        return starting?.reject(refusalOf(message));
      case "counts":
        return starting?.listener.onCounts(message.counts);
      case "parcels":
        return starting?.listener.onParcels(message.parcels);
      case "answer":
        questions.get(message.id)?.(message.answers);
        return void questions.delete(message.id);
      default:
        return unreachable(message);
    }
  }

  function lose(error: Error): void {
    starting?.reject(error);
    for (const answer of questions.values()) answer(false);
    questions.clear();
    if (!isLeaving) onLost(error);
    isLeaving = true;
  }

  // (3) Piped by Node itself, the thread's lines would end with the first error of this process's stderr.
  worker.stderr?.setEncoding("utf8").on("data", writeStderr);
  worker.on("message", hear);
  worker.on("error", lose);
  worker.on("exit", (code) => lose(new Error(`drive worker exited with code ${code}`)));

  return {
    start: (settings, listener) =>
      new Promise((resolve, reject) => {
        starting = { listener, resolve, reject };
        say({ kind: "start", settings });
      }),
    answers: () =>
      new Promise((resolve) => {
        if (isLeaving) return resolve(false);
        questions.set((asked += 1), resolve);
        say({ kind: "answers", id: asked });
      }),
    async stop() {
      if (isLeaving) return;
      isLeaving = true;
      if (starting === undefined) return void (await worker.terminate());
      const left = once(worker, "exit");
      say({ kind: "stop" });
      await left;
    },
  };
}

/** A thread does not know by itself where compiled modules are kept. */
const startWorker = (): Worker =>
  new Worker(siblingModule("thread-main", import.meta), {
    stderr: true, // (3)
    workerData: { compileCache: getCompileCacheDir() ?? null } satisfies ThreadData, // (1)
  });

function refusalOf({ code, message }: Extract<FromThread, { kind: "refused" }>): Error {
  return code === null ? new Error(message) : new FairleadError(code as ErrorCode, message);
}
