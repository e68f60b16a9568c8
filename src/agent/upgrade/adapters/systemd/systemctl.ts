/**
 * systemd through `systemctl`: the tool that every machine with systemd has, and that an operator can repeat by hand.
 *
 * 1. Each call has a hard limit of time and of output. One that hangs is killed and told, never waited for.
 * 2. A call that was cut off may still take effect: systemd works on by itself. Whoever calls looks at the unit then.
 */
import { FairleadError } from "../../../../core/errors.ts";
import { minimalEnv, run } from "../../../../host/process.ts";
import { parseUnitState, PROPERTIES, type UnitState } from "./unit-state.ts";

export interface SystemctlLimits {
  readonly showMs: number;
  readonly reloadMs: number;
  readonly startMs: number;
}

/** Below the budgets of the actions that ask, so that what is reported is the cause. */
export const SYSTEMCTL_LIMITS: SystemctlLimits = { showMs: 5_000, reloadMs: 9_000, startMs: 28_000 };
const OUTPUT_BYTES_MAX = 4 * 1024 * 1024;
const SAID_CHARS_MAX = 500;

export type Asked = { readonly kind: "done" } | { readonly kind: "failed" | "late"; readonly said: string };

export interface Systemctl {
  show(): Promise<UnitState>;
  daemonReload(signal: AbortSignal): Promise<void>;
  start(signal: AbortSignal): Promise<Asked>;
  stop(withinMs: number, signal: AbortSignal): Promise<Asked>;
  kill(signal: AbortSignal): Promise<void>;
  /** So that an earlier crash loop does not forbid a start that is asked for; a unit that never ran has nothing to reset. */
  resetFailed(signal: AbortSignal): Promise<void>;
}

/** `command` is `systemctl` itself, or what runs it where the unit is. */
export function systemctl(
  command: readonly [string, ...string[]],
  unit: string,
  limits: SystemctlLimits = SYSTEMCTL_LIMITS,
): Systemctl {
  const [file, ...before] = command;

  async function ask(args: readonly string[], timeoutMs: number, signal?: AbortSignal) {
    const verb = args[0]!;
    const result = await run(file, [...before, "--no-pager", "--no-ask-password", ...args], {
      env: minimalEnv(),
      timeoutMs, // (1)
      maxOutputBytes: OUTPUT_BYTES_MAX,
      ...(signal === undefined ? {} : { signal }),
    });
    if (result.kind === "aborted") signal?.throwIfAborted();
    if (result.kind === "not_started")
      throw new FairleadError("ACTION_FAILED", `${file} did not start: ${result.errno}`);
    const said = result.stderr.toString("utf8").trim().slice(0, SAID_CHARS_MAX);
    if (result.kind === "timeout")
      return {
        kind: "late" as const,
        said: `systemctl ${verb} did not end within ${timeoutMs} ms`,
        stdout: "",
      };
    const code = result.kind === "exited" ? result.code : result.kind;
    const stdout = result.stdout.toString("utf8");
    if (code === 0) return { kind: "done" as const, said, stdout };
    return { kind: "failed" as const, said: `systemctl ${verb} ended with ${code}: ${said}`, stdout };
  }

  async function demand(args: readonly string[], timeoutMs: number, signal?: AbortSignal): Promise<string> {
    const { kind, said, stdout } = await ask(args, timeoutMs, signal);
    if (kind === "late") throw new FairleadError("RUNTIME_UNRESPONSIVE", said);
    if (kind === "failed") throw new FairleadError("ACTION_FAILED", said);
    return stdout;
  }

  return {
    show: async () =>
      parseUnitState(
        await demand(
          ["show", "--timestamp=us+utc", `--property=${PROPERTIES.join(",")}`, "--", unit],
          limits.showMs,
        ),
      ),
    daemonReload: async (signal) => void (await demand(["daemon-reload"], limits.reloadMs, signal)),
    start: async (signal) => ask(["start", "--", unit], limits.startMs, signal),
    stop: async (withinMs, signal) => ask(["stop", "--", unit], withinMs, signal),
    kill: async (signal) =>
      void (await demand(["kill", "--signal=SIGKILL", "--", unit], limits.showMs, signal)),
    async resetFailed(signal) {
      const asked = await ask(["reset-failed", "--", unit], limits.showMs, signal);
      if (asked.kind === "late") throw new FairleadError("RUNTIME_UNRESPONSIVE", asked.said);
    },
  };
}
