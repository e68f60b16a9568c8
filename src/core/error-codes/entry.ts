/** What a code of the list says. */

/** Exit codes of the CLI. Scripts depend on them: append, never renumber. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  invalid: 3,
  conflict: 4,
  notFound: 5,
  denied: 6,
  unreachable: 7,
  untrusted: 8,
  paused: 9,
  timeout: 10,
} as const;
type ExitName = keyof typeof EXIT;

export interface CodeEntry {
  readonly http: number;
  readonly exit: ExitName;
  readonly next: string;
}

export const code = (http: number, exit: ExitName, next: string): CodeEntry => ({ http, exit, next });
