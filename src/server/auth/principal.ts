/** Who makes a call and what he may do. Scopes come from rows of ours; no token's claim adds one. */
import { SCOPES, type Scope } from "../../core/protocol/api-key-api.ts";

export interface Principal {
  /** Stands in events and in `created_by`: `key:<name>` or `oidc:<subject>`. */
  readonly user: string;
  readonly scopes: readonly Scope[];
}

/** Of one request. */
export interface Caller extends Principal {
  /** Who he is by now; null when his key was revoked or his session has ended. For calls that last. */
  again(): Promise<Principal | null>;
}

export const userOfKey = (name: string): string => `key:${name}`;
export const userOfSubject = (subject: string): string => `oidc:${subject}`;

/** Rows may name scopes of a later version: what is not known here grants nothing. */
export const knownScopes = (scopes: readonly string[]): Scope[] =>
  SCOPES.filter((scope) => scopes.includes(scope));
