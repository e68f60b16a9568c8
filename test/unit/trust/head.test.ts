// A head tells a node what is newest and what was revoked, for a few minutes (SNAP-17).
import { expect, test } from "vitest";
import type { Json } from "../../../src/core/json.ts";
import { LIMITS } from "../../../src/core/limits.ts";
import type { HeadContent } from "../../../src/core/snapshot/head.ts";
import { canonicalBytes } from "../../../src/trust/canonical-json.ts";
import { decodeFrame, encodeFrame, signFrame } from "../../../src/trust/frame.ts";
import { signHead, verifyHead, type HeadContext, type HeadDraft } from "../../../src/trust/head.ts";
import { parseCanonical } from "../../../src/trust/strict-json.ts";
import { codeOf } from "../../support/refusals.ts";
import * as trust from "../../support/trust.ts";
import { at, CLUSTER, fingerprint, HOUR_MS, NODE, NOW, OTHER_NODE } from "../../support/trust.ts";

const keys = trust.newKeys();
const bundle = trust.bundleOf(keys);
const contentAt = (version: number): HeadContent => ({
  scopes: { route_policy: { epoch: 1, version, content_hash: fingerprint(`routes ${version}`) } },
  revoked: [{ kind: "peer", id: OTHER_NODE }],
});
const draft: HeadDraft = {
  clusterId: CLUSTER,
  nodeId: NODE,
  epoch: 1,
  issuedAt: NOW,
  lifetimeMs: LIMITS.headLifetimeMs,
  content: contentAt(7),
};
const context: HeadContext = {
  clusterId: CLUSTER,
  nodeId: NODE,
  bundle,
  epoch: 1,
  time: { local: NOW, effective: NOW },
  held: null,
};
const head = signHead(draft, [keys.online]);
const verdict = (frame: Buffer, changes: Partial<HeadContext> = {}) =>
  codeOf(() => verifyHead(frame, { ...context, ...changes }));
const signed = (changes: Partial<HeadDraft>, signers = [keys.online] as const) =>
  signHead({ ...draft, ...changes }, signers);

test("a head gives its header and its content", () => {
  expect(verifyHead(head, context)).toMatchObject({
    header: { subject_node_id: NODE, issued_at: at(NOW), expires_at: at(NOW + LIMITS.headLifetimeMs) },
    content: contentAt(7),
  });
});

test.each<[string, Buffer, Partial<HeadContext>]>([
  ["for another cluster", signed({ clusterId: CLUSTER.replaceAll("1", "a") as typeof CLUSTER }), {}],
  ["for another node", signed({ nodeId: OTHER_NODE }), {}],
  ["of an older epoch", signed({ epoch: 0 }), {}],
  ["of an epoch that nobody opened", signed({ epoch: 2 }), {}],
  ["of the future", signed({ issuedAt: NOW + LIMITS.issuedAheadMaxMs + 1 }), {}],
  ["signed by a stranger", signHead(draft, [trust.newSigner()]), {}],
  ["signed by a release key", signHead(draft, [keys.release]), {}],
  ["signed by a root key", signHead(draft, [keys.roots[0]]), {}],
  ["signed by a revoked key", head, { bundle: { ...bundle, revoked_keys: [keys.online.record.key_id] } }],
  ["signed by a key that a head revoked", head, { revokedKeys: [keys.online.record.key_id] }],
  ["before any trust bundle", head, { bundle: null, epoch: null }],
  [
    "signed for something else",
    signFrame("fairlead/snapshot/v1", headerOf(head), contentOf(head), [keys.online]),
    {},
  ],
  [
    "with other content",
    encodeFrame({ ...decodeFrame(head), content: canonicalBytes({ scopes: {}, revoked: [] }) }),
    {},
  ],
  [
    "with content that breaks its schema",
    spoiled({ scopes: {}, revoked: [{ kind: "user", id: "ann" }] }),
    {},
  ],
  ["that is no frame", Buffer.from("hello"), {}],
])("HEAD_REFUSED for a head %s", (_, frame, changes) => {
  expect(verdict(frame, changes)).toBe("HEAD_REFUSED");
});

function headerOf(frame: Buffer): Json {
  return parseCanonical(decodeFrame(frame).header);
}
function contentOf(frame: Buffer): Buffer {
  return decodeFrame(frame).content;
}
function spoiled(content: Json): Buffer {
  return signed({ content: content as HeadContent });
}

test("HEAD_STALE once it has expired, by the time that never goes back", () => {
  const later = NOW + LIMITS.headLifetimeMs;
  expect(verdict(head, { time: { local: later - 1, effective: later - 1 } })).toBe("accepted");
  expect(verdict(head, { time: { local: later, effective: later } })).toBe("HEAD_STALE");
  expect(verdict(head, { time: { local: NOW - HOUR_MS, effective: later } })).toBe("HEAD_STALE");
});

test("HEAD_ROLLBACK for a head older than the one held, or one that takes a version back", () => {
  const held = verifyHead(head, context);
  expect(verdict(head, { held })).toBe("accepted");
  expect(verdict(signed({ issuedAt: NOW + 1, content: contentAt(8) }), { held })).toBe("accepted");
  expect(verdict(signed({ issuedAt: NOW - 1 }), { held })).toBe("HEAD_ROLLBACK");
  expect(verdict(signed({ issuedAt: NOW + 1, content: contentAt(6) }), { held })).toBe("HEAD_ROLLBACK");
});

test("a new epoch begins at its own versions", () => {
  const held = verifyHead(head, context);
  const scopes = { route_policy: { epoch: 2, version: 1, content_hash: fingerprint("restored") } };
  const next = signed({ issuedAt: NOW + 1, epoch: 2, content: { scopes, revoked: [] } });
  expect(verdict(next, { held, epoch: 2 })).toBe("accepted");
  expect(verdict(head, { held, epoch: 2 })).toBe("HEAD_REFUSED");
});

test("a key for any one scope may sign heads", () => {
  const [online] = bundle.online_keys;
  const narrow = trust.bundleOf(keys, { online_keys: [{ ...online!, scopes: ["qos_policy"] }] });
  expect(verdict(head, { bundle: narrow })).toBe("accepted");
});

test("while keys rotate, two sign: a node that knows one of them is served", () => {
  const incoming = trust.newSigner();
  const both = signHead(draft, [incoming, keys.online]);
  expect(verdict(both)).toBe("accepted");
  expect(verdict(signHead(draft, [incoming]))).toBe("HEAD_REFUSED");
  const { signatures, ...rest } = decodeFrame(both);
  expect(verdict(encodeFrame({ ...rest, signatures: signatures.slice(1) }))).toBe("HEAD_REFUSED");
});

test("a head is signed under its own domain, and one of an unknown version is refused", () => {
  const again = (header: object, domain = "fairlead/head/v1") =>
    signFrame(domain, { ...(headerOf(head) as object), ...header }, contentOf(head), [keys.online]);
  expect(verdict(again({}))).toBe("accepted");
  expect(verdict(again({}, ""))).toBe("HEAD_REFUSED");
  expect(verdict(again({ schema_version: 2 }))).toBe("HEAD_REFUSED");
});

test("a head tells the time to a node with an unset clock, and to no other", () => {
  const ahead = signed({ issuedAt: NOW + HOUR_MS });
  expect(verdict(ahead, { time: { local: NOW, effective: NOW, clockless: true } })).toBe("accepted");
  expect(verdict(ahead)).toBe("HEAD_REFUSED");
});

test("a head issued at the end of the trust bundle or later is refused", () => {
  const [time, issuedAt] = [{ local: NOW, effective: NOW, clockless: true }, NOW + HOUR_MS];
  expect(verdict(signed({ issuedAt }), { time, bundleExpiresAt: issuedAt + 1 })).toBe("accepted");
  expect(verdict(signed({ issuedAt }), { time, bundleExpiresAt: issuedAt })).toBe("HEAD_REFUSED");
  expect(verdict(signed({ issuedAt }), { time, bundleExpiresAt: issuedAt - 1 })).toBe("HEAD_REFUSED");
});

test("a head may leave out a scope that the head before it named", () => {
  const held = verifyHead(head, context);
  expect(verdict(signed({ content: { scopes: {}, revoked: [] } }), { held })).toBe("accepted");
});
