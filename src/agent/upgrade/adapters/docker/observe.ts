/** What runs, in the engine's words (ROLL-15). */
import type { DockerProgram } from "../../../programs/config.ts";
import type { RunningProgram, Supervision } from "../../port.ts";
import { inspect } from "./containers.ts";
import type { Engine } from "./engine.ts";
import { fingerprintOf } from "./images.ts";
import { LABELS } from "./labels.ts";
import type { NoteBook } from "./notes.ts";
import type { Container } from "./schemas.ts";

export interface ObserveDeps {
  readonly program: DockerProgram;
  readonly engine: Engine;
  readonly notes: NoteBook;
}

const ABSENT: Supervision = { running: null, restarts: 0, restarted_at: [], last_exit: null };

export async function observe(deps: ObserveDeps): Promise<Supervision> {
  const container = await inspect(deps.engine, deps.program.container);
  if (container === null) return ABSENT;
  const { RestartCount: restarts, State } = container; // the engine counts anew at each start on purpose
  return {
    running: await runningOf(deps, container),
    restarts,
    // It keeps the time of the newest only.
    restarted_at: restarts === 0 ? [] : [instant(State.StartedAt)],
    last_exit: lastExit(container),
  };
}

async function runningOf(
  { program, engine, notes }: ObserveDeps,
  container: Container,
): Promise<RunningProgram | null> {
  const { State } = container;
  if (!State.Running || State.Restarting || State.Pid === 0) return null;
  const { launch } = await notes.read();
  const launched = launch?.container === container.Id ? `${launch.key}.${launch.number}` : undefined;
  return {
    fingerprint: await fingerprintOf(engine, container, program.image_repositories),
    pid: State.Pid,
    instance_id: launched ?? container.Config.Labels[LABELS.instance] ?? `found.${container.Id.slice(0, 12)}`,
    restarts: container.RestartCount,
    started_at: instant(State.StartedAt),
  };
}

function lastExit({ State }: Container): Supervision["last_exit"] {
  if (!hasHappened(State.FinishedAt)) return null;
  const { ExitCode: code, OOMKilled, FinishedAt } = State;
  return OOMKilled
    ? { code: null, signal: "SIGKILL (out of memory)", at: instant(FinishedAt) }
    : { code, signal: null, at: instant(FinishedAt) };
}

export const neverStarted = ({ State }: Container): boolean => !hasHappened(State.StartedAt);

const hasHappened = (time: string): boolean => !time.startsWith("0001-");

/** The engine tells nanoseconds, also in other zones than UTC. */
const instant = (time: string): string => new Date(Date.parse(time)).toISOString();
