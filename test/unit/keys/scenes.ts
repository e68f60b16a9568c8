/** Keys and nodes as a decision sees them. */
import { NodeId, type KeyId } from "../../../src/core/ids.ts";
import type { BundleCase, KeyStanding, NodeStanding } from "../../../src/core/keys/standing.ts";
import type { KeyAuthority, KeyState } from "../../../src/core/snapshot/signing-keys.ts";
import type { TrustBundle } from "../../../src/core/snapshot/trust-bundle.ts";
import { generateSigner, type Signer } from "../../../src/trust/keys.ts";
import { bundleOf, newKeys, NOW, at, HOUR_MS } from "../../support/trust.ts";

export const signers = newKeys();
export const next: Signer = generateSigner().signer;
const [root] = signers.roots;

export const idOf = ({ record }: Signer): KeyId => record.key_id;

export const keyRow = (
  signer: Signer,
  authority: KeyAuthority,
  state: KeyState,
  more: Partial<KeyStanding> = {},
): KeyStanding => ({
  key_id: idOf(signer),
  authority,
  name: `${authority}-key`,
  state,
  bundle_version: 1,
  retire_by: null,
  ...more,
});

let count = 0;
export const node = (
  name: string,
  bundleVersion: number | null,
  behind: NodeStanding["behind"] = [],
): NodeStanding => ({
  id: NodeId.parse(`00000000-0000-4000-8000-${String(++count).padStart(12, "0")}`),
  name,
  bundle_version: bundleVersion,
  behind,
});

const validity = { valid_from: at(NOW - HOUR_MS), valid_until: at(NOW + HOUR_MS) };
export const onlineKey = (signer: Signer): TrustBundle["online_keys"][number] => ({
  ...signer.record,
  ...validity,
  scopes: ["service_assignment"],
});
export const releaseKey = (signer: Signer): TrustBundle["release_keys"][number] => ({
  ...signer.record,
  ...validity,
  name: "second",
  profiles: [],
});

export const bundle = (changes: Partial<TrustBundle> = {}): TrustBundle => bundleOf(signers, changes);

/** The online key signs, everything is confirmed, and the next bundle changes nothing. */
export const scene = (changes: Partial<BundleCase> = {}): BundleCase => ({
  keys: [
    keyRow(root, "root", "active"),
    keyRow(signers.online, "online", "active"),
    keyRow(signers.release, "release", "active"),
  ],
  before: bundle(),
  after: bundle(),
  recovery: false,
  nodes: [],
  abandoned: [],
  held: [idOf(signers.online), idOf(next)],
  now: NOW,
  ...changes,
});
