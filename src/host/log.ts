/**
 * Structured logs: one JSON object per line on stderr.
 *
 * 1. A value under a secret's name is never written, at any depth, nor is a secret recognised by its form.
 * 2. A line has a bound; logging never throws.
 * 3. A full disk or a reader that is gone loses lines, never the process; the count is logged once writing works again.
 */
import { redact } from "./log-redaction.ts";
import { type LineSink, lineSink } from "./standard-streams.ts";

const LEVELS = { debug: 10, info: 20, warn: 30, error: 40, silent: 100 } as const;
export type LogLevel = keyof typeof LEVELS;
export type LogFields = Readonly<Record<string, unknown>>;

export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A logger that adds these fields to each line. */
  child(bindings: LogFields): Logger;
}

export interface LogOptions {
  readonly level?: LogLevel;
  readonly bindings?: LogFields;
  readonly write?: (line: string) => void;
  readonly now?: () => number;
}

const LINE_CHARS_MAX = 32_768;

export function createLogger(options: LogOptions = {}): Logger {
  const { level = "info", bindings = {}, write = writeStderr, now = Date.now } = options;
  const at =
    (name: Exclude<LogLevel, "silent">) =>
    (message: string, fields?: LogFields): void => {
      if (LEVELS[name] < LEVELS[level]) return;
      write(formatLine(now(), name, message, { ...bindings, ...fields }));
    };
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    child: (more) => createLogger({ ...options, bindings: { ...bindings, ...more } }),
  };
}

export const silentLogger: Logger = createLogger({ level: "silent" });

function formatLine(now: number, level: string, message: string, fields: LogFields): string {
  const head = { time: new Date(now).toISOString(), level, msg: redact(message) };
  try {
    const line = JSON.stringify({ ...head, ...(redact(fields) as object) });
    if (line.length <= LINE_CHARS_MAX) return `${line}\n`;
    return `${JSON.stringify({ ...head, dropped: "fields", chars: line.length })}\n`; // (2)
  } catch (error) {
    return `${JSON.stringify({ ...head, dropped: String(error) })}\n`; // (2) a getter that throws, a bigint
  }
}

let stderrSink: LineSink | undefined;

/** Also for lines that another thread has formatted: its own stderr would end with the first failure of ours. */
export function writeStderr(line: string): void {
  stderrSink ??= lineSink(process.stderr, (lost, cause) =>
    formatLine(Date.now(), "warn", "log lines lost", { lost, cause }),
  ); // (3)
  stderrSink(line);
}
