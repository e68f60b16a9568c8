/**
 * May a key leave the trust bundle without being revoked (SNAP-8)?
 *
 * 1. What is still needed does not leave: the online key that signs, the last release key.
 * 2. Nobody is left behind before the deadline, and after it only who was named.
 */
import type { KeyAuthority } from "../snapshot/signing-keys.ts";
import {
  hasBundle,
  notConfirmed,
  shortKey,
  stateRefusal,
  stepTo,
  type BundleCase,
  type KeyRefusal,
  type KeyStanding,
  type KeyStep,
  type NodeStanding,
} from "./standing.ts";

export type Removal = { readonly kind: "left"; readonly step: KeyStep } | KeyRefusal;

const NEXT_INSTEAD: Readonly<Record<KeyAuthority, string>> = {
  root: "",
  online: "promote another one first",
  release: "begin with `fairlead keys retire`",
  publisher: "begin with `fairlead keys retire`",
};

export function decideRemoval(key: KeyStanding, all: BundleCase): Removal {
  const id = shortKey(key.key_id);
  // The root answers for its own keys: a bundle that changes them is signed by both sets.
  const path = key.authority === "root" ? (["retiring", "retired"] as const) : (["retired"] as const);
  const step = stepTo(key, path);
  if (step === null)
    return stateRefusal(`key ${id} is ${key.state}: ${NEXT_INSTEAD[key.authority]}`, key.key_id); // (1)
  if (key.state !== "retiring") return { kind: "left", step };
  if (key.authority === "release" && !hasOther(key, all))
    return stateRefusal(`key ${id} is the only release key: introduce another one first`, key.key_id); // (1)
  const waiting = all.nodes.filter((node) => needs(node, key, all));
  const left = waiting.filter((node) => !all.abandoned.includes(node.id));
  const deadline = key.retire_by === null ? null : new Date(key.retire_by).toISOString();
  const isOver = key.retire_by !== null && key.retire_by <= all.now;
  if (left.length > 0)
    return notConfirmed(`nodes still need key ${id}`, left, { key_id: key.key_id, retire_by: deadline });
  if (waiting.length > 0 && !isOver)
    return notConfirmed(`no node is left behind before ${deadline ?? "the deadline"}`, waiting, {
      key_id: key.key_id,
      retire_by: deadline,
    }); // (2)
  return { kind: "left", step };
}

const hasOther = (key: KeyStanding, { keys }: BundleCase): boolean =>
  keys.some(
    (other) => other.authority === key.authority && other.key_id !== key.key_id && other.state === "active",
  );

/** An online key is needed until its successor's snapshots are applied; any other until its successors are known. */
function needs(node: NodeStanding, key: KeyStanding, { keys }: BundleCase): boolean {
  const successors = keys.filter((other) => other.authority === key.authority && other.state === "active");
  if (successors.some((other) => !hasBundle(node, other.bundle_version ?? 0))) return true;
  return key.authority === "online" && node.behind.length > 0;
}
