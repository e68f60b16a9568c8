/**
 * Starting and stopping the program's container.
 *
 * 1. Nothing is started but the digest and the run that were asked for.
 * 2. `stop` takes the restart policy away before it signals: an engine that is restarted brings nothing back.
 * 3. The launch is noted before the start. Asked again, a start that is under way is joined: the engine runs a
 *    container at most once.
 * 4. A stop is noted before it is asked for: one whose answer never came may end the program at any later moment. A
 *    start finishes it first, and does not take what is still on for what it started.
 * 5. An engine that was about to restart a program may do so after it has said that the program is stopped. One that
 *    it has restarted before is watched for a moment, and stopped again.
 */
import { FairleadError } from "../../../../core/errors.ts";
import { type Clock, sleep } from "../../../../host/clock.ts";
import type { DockerProgram } from "../../../programs/config.ts";
import type { StartRequest } from "../../port.ts";
import { inspect, isOn } from "./containers.ts";
import { type Engine, oneLine } from "./engine.ts";
import { fingerprintOf } from "./images.ts";
import { isRunAs } from "./labels.ts";
import type { NoteBook } from "./notes.ts";
import { neverStarted } from "./observe.ts";
import { keepOff, letRestart } from "./restart-policy.ts";
import type { Container } from "./schemas.ts";

export interface LifecycleDeps {
  readonly program: DockerProgram;
  readonly engine: Engine;
  readonly notes: NoteBook;
  readonly clock: Clock;
  /** A program that lives this long has started. */
  readonly settleMs?: number;
}

const SETTLE_MS = 500;
const POLL_MS = 25;
const STOPS_MAX = 5;

export async function start(deps: LifecycleDeps, request: StartRequest, signal: AbortSignal): Promise<void> {
  const { program, engine, notes } = deps;
  const found = await inspect(engine, program.container);
  if (found === null) throw gone(program);
  await refuseOther(deps, found, request); // (1)
  const container = await finishStop(deps, found, signal); // (4)
  await letRestart(engine, container, notes, signal);
  if (!isOn(container)) await noteLaunch(notes, container, request.key); // (3)
  await engine.change({ method: "POST", path: `/containers/${container.Id}/start`, fine: [304] }, signal);
  await untilSettled(deps, container.Id, signal);
}

async function refuseOther(
  { program, engine }: LifecycleDeps,
  container: Container,
  { fingerprint, run }: StartRequest,
): Promise<void> {
  const found = await fingerprintOf(engine, container, program.image_repositories);
  if (found !== fingerprint)
    throw new FairleadError(
      "ARTIFACT_DIGEST_MISMATCH",
      `${program.container} is of ${found}, not ${fingerprint}`,
    );
  if (!isRunAs(container, program.run, run))
    throw new FairleadError("RUN_SPEC_MISMATCH", `${program.container} was made for another run`);
}

async function noteLaunch(notes: NoteBook, container: Container, key: string): Promise<void> {
  await notes.change(({ launch }) => {
    const again = launch?.container === container.Id && launch.key === key && neverStarted(container);
    const number = launch?.key !== key ? 1 : again ? launch.number : launch.number + 1;
    return { launch: { container: container.Id, key, number } };
  });
}

async function untilSettled(
  { engine, clock, settleMs = SETTLE_MS }: LifecycleDeps,
  id: string,
  signal: AbortSignal,
) {
  for (const since = clock.monotonic(); ; await sleep(POLL_MS, signal)) {
    signal.throwIfAborted();
    const container = await inspect(engine, id);
    if (container === null || !container.State.Running || container.RestartCount > 0)
      throw endedAtOnce(container);
    if (clock.monotonic() - since >= settleMs) return;
  }
}

function endedAtOnce(container: Container | null): FairleadError {
  const {
    OOMKilled,
    ExitCode,
    Error: why,
  } = container?.State ?? { OOMKilled: false, ExitCode: 0, Error: "" };
  const how = OOMKilled ? "out of memory" : `code ${ExitCode}`;
  const more = why === "" ? "" : `: ${oneLine(why)}`;
  return new FairleadError("PROGRAM_NOT_RUNNING", `the program ended at once (${how})${more}`);
}

export async function stop(deps: LifecycleDeps, signal: AbortSignal): Promise<void> {
  const { program, engine, notes } = deps;
  const container = await inspect(engine, program.container);
  if (container === null) return;
  await keepOff(engine, container, notes, signal); // (2)
  if (isOn(container)) await bringDown(deps, container, signal);
}

/** The container as it is once a stop that was in doubt has ended. */
async function finishStop(deps: LifecycleDeps, found: Container, signal: AbortSignal): Promise<Container> {
  const { program, engine, notes } = deps;
  if ((await notes.read()).stopping !== found.Id) return found;
  if (isOn(found)) await bringDown(deps, found, signal);
  else await notes.change(() => ({ stopping: null }));
  const container = await inspect(engine, found.Id);
  if (container === null) throw gone(program);
  return container;
}

async function bringDown(deps: LifecycleDeps, container: Container, signal: AbortSignal): Promise<void> {
  const { program, engine, notes } = deps;
  const { Id, State } = container;
  signal.throwIfAborted();
  await notes.change(() => ({ stopping: Id })); // (4)
  // A frozen program cannot hear that it should end.
  if (State.Paused)
    await engine.change({ method: "POST", path: `/containers/${Id}/unpause`, fine: [409] }, signal);
  const seconds = Math.ceil(program.stop_grace_ms / 1000);
  const path = `/containers/${Id}/stop?t=${seconds}`;
  for (let stops = 1; ; stops += 1) {
    await engine.change({ method: "POST", path, fine: [304], extraMs: seconds * 1000 }, signal);
    if (await staysOff(deps, container, signal)) break; // (5)
    if (stops === STOPS_MAX) throw new FairleadError("ACTION_FAILED", `${program.container} does not end`);
  }
  await notes.change(() => ({ stopping: null }));
}

async function staysOff(
  { engine, clock, settleMs = SETTLE_MS }: LifecycleDeps,
  { Id, RestartCount, State }: Container,
  signal: AbortSignal,
): Promise<boolean> {
  const wasRestarted = RestartCount > 0 || State.Restarting;
  for (const since = clock.monotonic(); ; await sleep(POLL_MS, signal)) {
    const left = await inspect(engine, Id);
    if (left !== null && isOn(left)) return false;
    const mayComeBack = wasRestarted || (left?.RestartCount ?? 0) > 0;
    if (!mayComeBack || clock.monotonic() - since >= settleMs) return true;
  }
}

const gone = ({ container }: DockerProgram): FairleadError =>
  new FairleadError("NOT_FOUND", `there is no container ${container}`);
