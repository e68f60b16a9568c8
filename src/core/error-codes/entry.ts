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

/**
 * Where somebody reads a code. `operator`: an answer of the API, on the command line or in a script. `console`: in the
 * browser. `server`: at the machine of a server, which did not start. `node`: about a node, at the machine or from afar.
 */
export type Place = "operator" | "console" | "server" | "node";

export interface CodeEntry {
  readonly http: number;
  readonly exit: ExitName;
  /** What to do, for an operator and wherever `at` has no words of its own. */
  readonly next: string;
  readonly at: { readonly [P in Exclude<Place, "operator">]?: string };
}

export const code = (http: number, exit: ExitName, next: string, at: CodeEntry["at"] = {}): CodeEntry => ({
  http,
  exit,
  next,
  at,
});
