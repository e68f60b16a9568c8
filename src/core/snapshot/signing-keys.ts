/**
 * The life of a signing key (SNAP-8). A trust bundle says which keys are believed; these states say where a key stands
 * on its way in and out, and what an operator may do next.
 */
import { z } from "zod";

export const KEY_AUTHORITIES = ["root", "online", "release", "publisher"] as const;
export const KeyAuthority = z.enum(KEY_AUTHORITIES);
export type KeyAuthority = z.infer<typeof KeyAuthority>;

export const KEY_STATES = ["proposed", "introduced", "active", "retiring", "retired", "revoked"] as const;
export const KeyState = z.enum(KEY_STATES);
export type KeyState = z.infer<typeof KeyState>;

export const KEY_TRANSITIONS = {
  proposed: ["introduced", "retired", "revoked"],
  introduced: ["active", "retired", "revoked"],
  active: ["retiring", "revoked"],
  retiring: ["retired", "active", "revoked"],
  retired: ["revoked"],
  revoked: [],
} as const satisfies Record<KeyState, readonly KeyState[]>;

export const mayBecome = (from: KeyState, to: KeyState): boolean =>
  (KEY_TRANSITIONS[from] as readonly KeyState[]).includes(to);
