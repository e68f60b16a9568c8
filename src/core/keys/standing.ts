/** What the server knows of keys and nodes when it decides about a key. */
import type { KeyId, NodeId } from "../ids.ts";
import type { ScopeType } from "../snapshot/scopes.ts";
import type { TrustBundle } from "../snapshot/trust-bundle.ts";
import { mayBecome, type KeyAuthority, type KeyState } from "../snapshot/signing-keys.ts";

export interface KeyStanding {
  readonly key_id: KeyId;
  readonly authority: KeyAuthority;
  readonly name: string;
  readonly state: KeyState;
  /** The first trust bundle that named it. */
  readonly bundle_version: number | null;
  readonly retire_by: number | null;
}

/** An enrolled node that is not revoked, by its newest heartbeat. */
export interface NodeStanding {
  readonly id: NodeId;
  readonly name: string;
  readonly bundle_version: number | null;
  /** Scopes in which it has not applied what the active online key signed, and commands that wait under an older key. */
  readonly behind: readonly (ScopeType | "command")[];
}

export interface BundleCase {
  readonly keys: readonly KeyStanding[];
  readonly before: TrustBundle;
  readonly after: TrustBundle;
  /** The bundle opens a new epoch. */
  readonly recovery: boolean;
  readonly nodes: readonly NodeStanding[];
  readonly abandoned: readonly NodeId[];
  /** Online keys whose private half this replica holds. */
  readonly held: readonly KeyId[];
  readonly now: number;
}

export interface KeyRefusal {
  readonly kind: "refused";
  readonly code: "KEY_STATE" | "KEY_NOT_CONFIRMED" | "NOT_FOUND";
  readonly message: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

export interface KeyStep {
  readonly key_id: KeyId;
  readonly from: KeyState;
  readonly to: KeyState;
  readonly retire_by: number | null;
}

const NODES_NAMED_MAX = 100;

export const shortKey = (id: KeyId): string => id.slice(0, 12);

export const stateRefusal = (message: string, keyId?: KeyId): KeyRefusal => ({
  kind: "refused",
  code: "KEY_STATE",
  message,
  detail: keyId === undefined ? {} : { key_id: keyId },
});

export function notConfirmed(message: string, nodes: readonly NodeStanding[], more = {}): KeyRefusal {
  const named = nodes.slice(0, NODES_NAMED_MAX);
  return {
    kind: "refused",
    code: "KEY_NOT_CONFIRMED",
    message: `${message}: ${named.map(({ name }) => name).join(", ")}${nodes.length > named.length ? ", …" : ""}`,
    detail: {
      nodes: named.map(({ name, behind }) => ({ name, behind })),
      count: nodes.length,
      ...more,
    },
  };
}

export const hasBundle = (node: NodeStanding, version: number): boolean =>
  (node.bundle_version ?? 0) >= version;

/** A step in the table, or several of them in one: what comes in with a bundle passes through the states between. */
export function stepTo(
  key: KeyStanding,
  path: readonly KeyState[],
  retireBy: number | null = null,
): KeyStep | null {
  let at = key.state;
  for (const next of path) {
    if (at === next) continue;
    if (!mayBecome(at, next)) return null;
    at = next;
  }
  return { key_id: key.key_id, from: key.state, to: at, retire_by: retireBy };
}
