/**
 * Whether the engine brings a container up by itself: never while an upgrade needs it off.
 *
 * 1. With `always`, an engine that is started brings up what was stopped: in the middle of an upgrade that would be the
 *    old version beside the new one.
 * 2. An engine changes the policy of a container only after it has told its process the limits, and refuses when the
 *    process has just ended: a program that ends again and again is asked for until it lies between two lives.
 */
import { FairleadError } from "../../../../core/errors.ts";
import { sleep } from "../../../../host/clock.ts";
import type { Engine } from "./engine.ts";
import { machinePartOf } from "./labels.ts";
import type { NoteBook } from "./notes.ts";
import type { Container, RestartPolicy } from "./schemas.ts";

const NEVER: RestartPolicy = { Name: "no", MaximumRetryCount: 0 };
const TRIES_MAX = 40;
const RETRY_MS = 50;

export const restarts = ({ Name }: RestartPolicy): boolean => Name !== "" && Name !== "no";

/** What it should have while it is on. */
export async function wantedRestart(container: Container, notes: NoteBook): Promise<RestartPolicy> {
  const { RestartPolicy: policy } = container.HostConfig;
  if (restarts(policy)) return policy;
  return (await notes.read()).restart[container.Id] ?? machinePartOf(container)?.restart ?? policy;
}

/** (1) */
export async function keepOff(
  engine: Engine,
  container: Container,
  notes: NoteBook,
  signal: AbortSignal,
): Promise<void> {
  const { RestartPolicy: policy } = container.HostConfig;
  if (!restarts(policy)) return;
  signal.throwIfAborted();
  await notes.change(({ restart }) => ({ restart: { ...restart, [container.Id]: policy } }));
  await setRestart(engine, container, NEVER, signal);
}

export async function letRestart(
  engine: Engine,
  container: Container,
  notes: NoteBook,
  signal: AbortSignal,
): Promise<void> {
  const wanted = await wantedRestart(container, notes);
  if (wanted.Name !== container.HostConfig.RestartPolicy.Name)
    await setRestart(engine, container, wanted, signal);
}

async function setRestart(
  engine: Engine,
  { Id }: Container,
  RestartPolicy: RestartPolicy,
  signal: AbortSignal,
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await engine.change(
        { method: "POST", path: `/containers/${Id}/update`, json: { RestartPolicy } },
        signal,
      );
      return;
    } catch (error) {
      if (!failedInside(error) || tries === TRIES_MAX) throw error; // (2)
      await sleep(RETRY_MS, signal);
    }
  }
}

const failedInside = (error: unknown): boolean =>
  error instanceof FairleadError && error.detail?.["status"] === 500;
