/**
 * What a root-signed bundle does to the keys, and whether it may come now (SNAP-8). Its signatures were checked before.
 *
 * 1. A key leaves when every node that counts can do without it; after its deadline, those named may be left behind.
 * 2. Revocation waits for nobody, and neither does a new epoch: both are the root's way out of trouble.
 * 3. There is always an active online key whose private half is here.
 * 4. A key that was retired or revoked never comes back, and keeps its authority.
 */
import type { KeyId } from "../ids.ts";
import type { KeyState } from "../snapshot/signing-keys.ts";
import { bundleDifference, type ListedKey } from "./bundle-difference.ts";
import { decideRemoval } from "./decide-removal.ts";
import {
  shortKey,
  stateRefusal,
  stepTo,
  type BundleCase,
  type KeyRefusal,
  type KeyStanding,
  type KeyStep,
} from "./standing.ts";

export interface KeyArrival extends ListedKey {
  readonly from: KeyState | null;
  readonly state: KeyState;
}

export interface BundleDecision {
  readonly kind: "taken";
  readonly arrivals: readonly KeyArrival[];
  readonly changed: readonly ListedKey[];
  readonly steps: readonly KeyStep[];
  /** Another online key signs from now on: everything is published anew. */
  readonly successor: KeyId | null;
}

export function decideBundle(all: BundleCase): BundleDecision | KeyRefusal {
  const difference = bundleDifference(all.before, all.after);
  const find = (id: KeyId) => all.keys.find((key) => key.key_id === id);
  const arrivals: KeyArrival[] = [];
  for (const listed of difference.added) {
    const arrival = arrive(listed, find(listed.record.key_id));
    if ("kind" in arrival) return arrival;
    arrivals.push(arrival);
  }
  const steps: KeyStep[] = [];
  for (const id of difference.revoked) {
    const key = find(id);
    const step = key === undefined ? null : stepTo(key, ["revoked"]); // (2)
    if (step !== null) steps.push(step);
  }
  for (const { record } of difference.removed) {
    const key = find(record.key_id);
    if (key === undefined) continue;
    const removal = all.recovery ? letGo(key) : decideRemoval(key, all); // (2)
    if (removal.kind === "refused") return removal;
    steps.push(removal.step);
  }
  return withSuccessor(all, { kind: "taken", arrivals, changed: difference.changed, steps, successor: null });
}

/** Release and publisher keys count as soon as a node holds the bundle; an online key waits until it is promoted. */
function arrive({ authority, record }: ListedKey, key: KeyStanding | undefined): KeyArrival | KeyRefusal {
  const { key_id } = record;
  const state = authority === "online" ? "introduced" : "active";
  if (key === undefined) return { authority, record, from: null, state };
  if (key.authority !== authority)
    return stateRefusal(`key ${shortKey(key_id)} is a ${key.authority} key and stays one`, key_id); // (4)
  if (key.state === "proposed") return { authority, record, from: key.state, state };
  return stateRefusal(`key ${shortKey(key_id)} is ${key.state} and does not come back`, key_id); // (4)
}

function letGo(key: KeyStanding): { readonly kind: "left"; readonly step: KeyStep } | KeyRefusal {
  const step = stepTo(key, key.state === "active" ? ["retiring", "retired"] : ["retired"]);
  return step === null
    ? stateRefusal(`key ${shortKey(key.key_id)} is ${key.state}`, key.key_id)
    : { kind: "left", step };
}

/** Invariant 3: when the active key goes, the one that comes in goes first, then one already known, then the one before. */
function withSuccessor(all: BundleCase, decision: BundleDecision): BundleDecision | KeyRefusal {
  const online = all.keys.filter((key) => key.authority === "online");
  const leaving = decision.steps.map((step) => step.key_id);
  const active = online.find((key) => key.state === "active");
  if (active !== undefined && !leaving.includes(active.key_id)) return decision;
  const arriving = decision.arrivals
    .filter(({ authority }) => authority === "online")
    .map(({ record }) => record.key_id);
  const staying = (state: KeyState) =>
    online.filter((key) => key.state === state && !leaving.includes(key.key_id)).map((key) => key.key_id);
  const candidates = [...arriving, ...staying("introduced"), ...staying("retiring")];
  const successor = candidates.find((id) => all.held.includes(id));
  if (successor === undefined)
    return stateRefusal(
      "no online key would be left whose private half this server holds: introduce one in the same bundle",
    );
  const known = online.find((key) => key.key_id === successor);
  const step = known === undefined || arriving.includes(successor) ? null : stepTo(known, ["active"]);
  return {
    ...decision,
    successor,
    arrivals: decision.arrivals.map((arrival) =>
      arrival.record.key_id === successor ? { ...arrival, state: "active" as const } : arrival,
    ),
    steps: step === null ? decision.steps : [...decision.steps, step],
  };
}
