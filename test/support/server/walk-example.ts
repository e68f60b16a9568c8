// A call that is in order: whoever gives one has brought the site to where the call is answered with its status.

import type { callerOf } from "./operators-site.ts";
import type { Walk } from "./walk-site.ts";

export interface Example {
  readonly url: string;
  readonly payload?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly status: number;
  /** At another site than the walk's. */
  readonly call?: ReturnType<typeof callerOf>;
}

/** `METHOD path of the document` → how to make a call of it that is in order. */
export type Examples = Readonly<Record<string, (walk: Walk) => Promise<Example> | Example>>;

export const API = "/api/v1";

/** The same rows for each entry of a table. */
export const examplesFor = <T>(
  entries: Readonly<Record<string, T>>,
  rows: (name: string, value: T) => Examples,
): Examples =>
  Object.fromEntries(Object.entries(entries).flatMap(([name, value]) => Object.entries(rows(name, value))));
