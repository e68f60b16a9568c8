/**
 * May this online key begin to sign (SNAP-8)?
 *
 * 1. Every node that counts has confirmed the bundle that introduced it, or was named to be left behind.
 * 2. The key that signed so far goes on beside it until it is retired.
 */
import type { KeyId, NodeId } from "../ids.ts";
import {
  hasBundle,
  notConfirmed,
  shortKey,
  stateRefusal,
  stepTo,
  type KeyRefusal,
  type KeyStanding,
  type KeyStep,
  type NodeStanding,
} from "./standing.ts";

export interface PromotionCase {
  readonly keys: readonly KeyStanding[];
  readonly keyId: KeyId;
  readonly nodes: readonly NodeStanding[];
  readonly abandoned: readonly NodeId[];
  readonly retireBy: number;
}

export type Promotion = { readonly kind: "promoted"; readonly steps: readonly KeyStep[] } | KeyRefusal;

export function decidePromotion({ keys, keyId, nodes, abandoned, retireBy }: PromotionCase): Promotion {
  const key = keys.find((each) => each.key_id === keyId);
  if (key === undefined) {
    const message = `there is no key ${shortKey(keyId)}`;
    return { kind: "refused", code: "NOT_FOUND", message, detail: { key_id: keyId } };
  }
  if (key.authority !== "online")
    return stateRefusal(
      `key ${shortKey(keyId)} is a ${key.authority} key: only online keys are promoted`,
      keyId,
    );
  const promoted = key.state === "proposed" ? null : stepTo(key, ["active"]);
  if (promoted === null || key.state === "active")
    return stateRefusal(
      `key ${shortKey(keyId)} is ${key.state}: only an introduced or retiring key is promoted`,
      keyId,
    );
  const missing = nodes.filter(
    (node) => !hasBundle(node, key.bundle_version ?? 0) && !abandoned.includes(node.id),
  );
  if (missing.length > 0)
    return notConfirmed(`not every node knows key ${shortKey(keyId)} yet`, missing, {
      key_id: keyId,
      bundle_version: key.bundle_version,
    }); // (1)
  const before = keys.find((each) => each.authority === "online" && each.state === "active");
  const retiring = before === undefined ? null : stepTo(before, ["retiring"], retireBy); // (2)
  return { kind: "promoted", steps: [...(retiring === null ? [] : [retiring]), promoted] };
}
