/** What systemd says of a unit, read from `systemctl show`. */
import { FairleadError } from "../../../../core/errors.ts";

export interface UnitState {
  readonly exists: boolean;
  /** Also between two restarts: something would run again by itself. */
  readonly active: boolean;
  readonly ready: boolean;
  /** Something has been asked of it that is not done yet. */
  readonly hasJob: boolean;
  /** Zero when there is none. */
  readonly pid: number;
  readonly startedAtMs: number | null;
  /** One for each time it was started, by whomever. */
  readonly invocation: string;
  readonly restarts: number;
  readonly result: string;
  readonly exit: { readonly code: number | null; readonly signal: number | null; readonly at: string } | null;
  /** Command lines as systemd would run them, words parted by blanks. */
  readonly commands: readonly string[];
}

export const PROPERTIES = [
  "LoadState",
  "ActiveState",
  "SubState",
  "Job",
  "MainPID",
  "InvocationID",
  "NRestarts",
  "Result",
  "ExecStart",
  "ExecMainStartTimestamp",
  "ExecMainExitTimestamp",
  "ExecMainCode",
  "ExecMainStatus",
];

const OFF = ["inactive", "failed"];
const READY = ["active", "reloading"];
const EXITED = 1; // CLD_EXITED of waitid(2); the others are signals

export function parseUnitState(text: string): UnitState {
  const pairs = text.split("\n").flatMap((row) => {
    const at = row.indexOf("=");
    return at === -1 ? [] : [[row.slice(0, at), row.slice(at + 1)] as const];
  });
  const value = (name: string): string => pairs.find(([key]) => key === name)?.[1] ?? "";
  const number = (name: string): number => Number.parseInt(value(name), 10) || 0;
  if (value("LoadState") === "")
    throw new FairleadError("ACTION_FAILED", "systemctl show said nothing of the unit");
  const exitedAt = timeOf(value("ExecMainExitTimestamp"));
  const byExit = number("ExecMainCode") === EXITED;
  const status = number("ExecMainStatus");
  return {
    exists: value("LoadState") !== "not-found",
    active: !OFF.includes(value("ActiveState")),
    ready: READY.includes(value("ActiveState")),
    hasJob: number("Job") !== 0,
    pid: number("MainPID"),
    startedAtMs: timeOf(value("ExecMainStartTimestamp")),
    invocation: value("InvocationID"),
    restarts: number("NRestarts"),
    result: value("Result"),
    exit:
      exitedAt === null
        ? null
        : {
            code: byExit ? status : null,
            signal: byExit ? null : status,
            at: new Date(exitedAt).toISOString(),
          },
    commands: pairs.filter(([key]) => key === "ExecStart").map(([, text]) => commandOf(text)),
  };
}

/** Such as `Mon 2026-11-16 03:25:56.279257 UTC`, asked for with `--timestamp=us+utc`. */
function timeOf(text: string): number | null {
  const [, day, time, micros] = /^\w+ ([\d-]{10}) ([\d:]{8})\.(\d{6}) UTC$/.exec(text) ?? [];
  if (day === undefined) return null;
  return Date.parse(`${day}T${time}Z`) + Number(micros) / 1000;
}

const commandOf = (text: string): string =>
  / argv\[\]=(.*?) ; (?:ignore_errors|flags)=/.exec(text)?.[1] ?? text;
