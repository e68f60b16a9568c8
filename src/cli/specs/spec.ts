/**
 * What a command looks like from outside, as data: its words, its options, its examples.
 *
 * 1. Nothing here loads a command: `--help` and completion read these tables alone.
 * 2. Every command has at least one example.
 */
import type { Call, Result } from "../call.ts";

export interface OptionSpec {
  /** As commander writes it: `--name <value>`. */
  readonly flags: string;
  readonly about: string;
  readonly required?: true;
  readonly repeat?: true;
  readonly choices?: readonly string[];
  readonly fallback?: string;
}

export interface ArgumentSpec {
  /** As commander writes it: `<node>` or `[name]`. */
  readonly name: string;
  readonly about: string;
  readonly choices?: readonly string[];
}

export interface CommandSpec {
  /** One or two words: `whoami`, `node list`. */
  readonly path: string;
  readonly about: string;
  readonly arguments?: readonly ArgumentSpec[];
  readonly options?: readonly OptionSpec[];
  readonly examples: readonly [string, ...string[]];
  /** Speaks to a server, so `--context` chooses which. */
  readonly remote?: true;
  readonly load: () => Promise<{ run(call: Call): Promise<Result> }>;
}

export interface SubjectSpec {
  readonly name: string;
  readonly about: string;
}

/** What every signal takes. */
export const SIGNAL_OPTIONS: readonly OptionSpec[] = [
  { flags: "--reason <text>", about: "why; kept in the timeline" },
  { flags: "--idempotency-key <key>", about: "the same key sent twice is one wish (default: a new one)" },
];

export const WAIT_OPTIONS: readonly OptionSpec[] = [
  {
    flags: "--for <what>",
    about: "done: its end, through any pause; paused: its end or a pause, whichever is first",
    choices: ["done", "paused"],
    fallback: "done",
  },
  { flags: "--timeout <duration>", about: "give up after this long", fallback: "10m" },
];
