// The faults that a node's snapshots must survive, each through the agent's door: bytes in, a code out, and version 5
// active before and after a restart. test/unit/trust/faults.test.ts has the verdicts on bytes alone.
import { generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { expect, test } from "vitest";
import type { Json } from "../../../src/core/json.ts";
import { keyIdOf, type Signer } from "../../../src/trust/keys.ts";
import { headFrame, routeFrame, routeIncrement, routes } from "../../support/snapshot-frames.ts";
import {
  at,
  bundleFrame,
  bundleOf,
  fingerprint,
  HOUR_MS,
  newKeys,
  newSigner,
  NOW,
  OTHER_NODE,
  snapshotFrame,
} from "../../support/trust.ts";
import { openTrustingDoor, viaOf, type Answer, type Door } from "./door.ts";

const keys = newKeys();
const otherSite = newKeys();
const old = newSigner();
const foreign = "66666666-6666-4666-8666-666666666666";
const cloudKey = ["AKIA", "IOSFODNN7EXAMPLE"].join("");
const bundle = bundleOf(keys);

/** Version 5 is active, and one of the two keys in the bundle has expired. */
async function settled(): Promise<Door> {
  const door = await openTrustingDoor({ keys });
  const expired = { ...bundle.online_keys[0]!, ...old.record, valid_until: at(NOW) };
  const withExpired = bundleOf(keys, { online_keys: [bundle.online_keys[0]!, expired] });
  await door.poll({ snapshots: [bundleFrame(keys, { bundle: withExpired, header: { config_version: 2 } })] });
  expect(await door.poll({ snapshots: [routeFrame(keys, 5)] })).toBeNull();
  return door;
}

const snapshot = (header: { readonly [field: string]: Json }, content: Json = routes("drop")): Answer => ({
  snapshots: [routeFrame(keys, 6, { header, content })],
});
const raw = (bytes: string | Uint8Array): Answer => ({
  snapshots: [
    snapshotFrame({
      header: { scope_type: "route_policy", config_version: 6 },
      content: null,
      bytes: Buffer.from(bytes),
      signers: [keys.online],
    }),
  ],
});
const signedBy = (signer: Signer): Answer => ({ snapshots: [routeFrame(keys, 6, { signer })] });
const rooted = (content: Json, signers: readonly [Signer, ...Signer[]] = keys.roots): Answer => ({
  snapshots: [bundleFrame(keys, { content, header: { config_version: 3 }, signers })],
});
const described = (description: string): Json => ({
  routes: [{ ...routes("drop").routes[0]!, description }],
});
const increment = (base: number, path: string): Answer => ({
  increments: [
    routeIncrement(keys, {
      base,
      next: 6,
      from: routes("mesh"),
      to: routes("drop"),
      content: { kind: "patch", operations: [{ op: "add", path, value: 1 }] },
    }),
  ],
});

function flipped(): Answer {
  const frame = routeFrame(keys, 6, { content: routes("drop") });
  const signature = frame.lastIndexOf('"signature":"') + 20;
  frame[signature] = frame[signature] === 0x41 ? 0x42 : 0x41;
  return { snapshots: [frame] };
}

/** The same key under a second algorithm: what a header says of it does not count. */
const rsa = (privateKey: KeyObject, publicKey: KeyObject): Signer => {
  const spki = publicKey.export({ type: "spki", format: "der" });
  return {
    record: { key_id: keyIdOf(spki), algorithm: "RS256", public_key: spki.toString("base64") },
    sign: (bytes) => sign("sha256", bytes, privateKey),
  };
};
const pair = generateKeyPairSync("rsa", { modulusLength: 2048 });

test.each<[string, string, () => Answer]>([
  ["a flipped bit of the signature", "SNAPSHOT_SIGNATURE_INVALID", flipped],
  ["an unknown key", "SNAPSHOT_KEY_UNTRUSTED", () => signedBy(newSigner())],
  ["an expired key", "SNAPSHOT_KEY_UNTRUSTED", () => signedBy(old)],
  ["another cluster's key", "SNAPSHOT_KEY_UNTRUSTED", () => signedBy(otherSite.online)],
  [
    "an unknown key of another algorithm",
    "SNAPSHOT_KEY_UNTRUSTED",
    () => signedBy(rsa(pair.privateKey, pair.publicKey)),
  ],
  ["the algorithm field swapped", "SNAPSHOT_KEY_UNTRUSTED", () => snapshot({ signature_algorithm: "RS256" })],
  [
    "a bundle with a threshold of 0",
    "SNAPSHOT_CONTENT_INVALID",
    () => rooted({ ...bundle, root: { ...bundle.root, threshold: 0 } }),
  ],
  [
    "a bundle with a negative threshold",
    "SNAPSHOT_CONTENT_INVALID",
    () => rooted({ ...bundle, root: { ...bundle.root, threshold: -1 } }),
  ],
  [
    "a bundle with one root key counted twice",
    "SNAPSHOT_SIGNATURE_INVALID",
    () => rooted(bundle, [keys.roots[0], keys.roots[0]]),
  ],
  ["another cluster", "SNAPSHOT_WRONG_CLUSTER", () => snapshot({ cluster_id: OTHER_NODE })],
  ["another node", "SNAPSHOT_WRONG_NODE", () => snapshot({ subject_node_id: OTHER_NODE })],
  [
    "a wrong content hash under a valid signature",
    "SNAPSHOT_HASH_MISMATCH",
    () => snapshot({ content_hash: fingerprint("other") }),
  ],
  ["an older version", "SNAPSHOT_ROLLBACK", () => snapshot({ config_version: 4 })],
  ["a stale epoch", "SNAPSHOT_EPOCH_STALE", () => snapshot({ authority_epoch: 0 })],
  ["an epoch that no root key opened", "SNAPSHOT_EPOCH_UNKNOWN", () => snapshot({ authority_epoch: 2 })],
  [
    "an end that has passed",
    "SNAPSHOT_TIME_REFUSED",
    () => snapshot({ expires_at: at(NOW), refresh_after: at(NOW) }),
  ],
  [
    "a beginning that has not come",
    "SNAPSHOT_TIME_REFUSED",
    () => snapshot({ valid_from: at(NOW + HOUR_MS) }),
  ],
  ["an end on 30 February", "SNAPSHOT_MALFORMED", () => snapshot({ expires_at: "2027-02-30T12:00:00.000Z" })],
  ["a version of 2^53", "SNAPSHOT_MALFORMED", () => snapshot({ config_version: 2 ** 53 })],
  ["a delta on the wrong base", "INCREMENT_BASE_MISMATCH", () => increment(4, "/routes/0")],
  ["__proto__ in a patch path", "INCREMENT_RESULT_MISMATCH", () => increment(5, "/__proto__/x")],
  ["the patch index 01", "INCREMENT_RESULT_MISMATCH", () => increment(5, "/routes/01")],
  ["duplicate JSON keys", "SNAPSHOT_CONTENT_INVALID", () => raw('{"routes":[],"routes":[]}')],
  ["a lone surrogate", "SNAPSHOT_CONTENT_INVALID", () => raw('{"a":"\\ud800"}')],
  ["NaN", "SNAPSHOT_CONTENT_INVALID", () => raw('{"a":NaN}')],
  ["-0", "SNAPSHOT_CONTENT_INVALID", () => raw('{"a":-0}')],
  ["1e400", "SNAPSHOT_CONTENT_INVALID", () => raw('{"a":1e400}')],
  ["100,000 levels", "SNAPSHOT_CONTENT_INVALID", () => raw('{"a":'.repeat(100_000))],
  ["bytes that are no frame", "SNAPSHOT_MALFORMED", () => ({ snapshots: [Buffer.from("hello")] })],
  ["a raw secret", "SNAPSHOT_SECRET_FOUND", () => snapshot({}, described(cloudKey))],
  [
    "a raw secret in base64",
    "SNAPSHOT_SECRET_FOUND",
    () => snapshot({}, described(Buffer.from(cloudKey).toString("base64"))),
  ],
  [
    "another organization's data",
    "SNAPSHOT_ORGANIZATION_FOREIGN",
    () => snapshot({}, routes("drop", foreign)),
  ],
  [
    "a section beyond the role",
    "SNAPSHOT_SCOPE_EXCEEDED",
    () => snapshot({ scope_type: "qos_policy" }, { classes: [] }),
  ],
  ["a head of a key that is not believed", "HEAD_REFUSED", () => ({ head: headFrame(otherSite) })],
])("SNAP-7: %s is %s, and what was active stays active", async (_, code, answer) => {
  const door = await settled();
  expect(await door.poll(answer())).toMatchObject({ code });
  for (const moment of ["running", "restarted"]) {
    if (moment === "restarted") await door.restart();
    expect([moment, viaOf(door), door.store().versions().route_policy?.version]).toEqual([moment, "mesh", 5]);
  }
});
