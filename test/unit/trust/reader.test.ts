// One pass along a schema accepts nothing that parsing, canonical form, schema and search refuse (SNAP-7).
import fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";
import { Digest, KeyId, Uuid } from "../../../src/core/ids.ts";
import type { Json } from "../../../src/core/json.ts";
import { SnapshotHeader } from "../../../src/core/snapshot/envelope.ts";
import { IncrementHeader } from "../../../src/core/snapshot/increment.ts";
import { COMPILED_SCOPES, type CompiledScope } from "../../../src/core/snapshot/roles.ts";
import { Cidr, HostPort } from "../../../src/core/snapshot/typed-text.ts";
import { canonicalBytes } from "../../../src/trust/canonical-json.ts";
import { checkContent, readContent } from "../../../src/trust/content-schemas.ts";
import { findSecret } from "../../../src/trust/find-secret.ts";
import { decodeFrame } from "../../../src/trust/frame.ts";
import { readerFor } from "../../../src/trust/reader/read-along.ts";
import { parseCanonical } from "../../../src/trust/strict-json.ts";
import { verifySnapshot } from "../../../src/trust/verify-snapshot.ts";
import { CONTENTS, ORGANIZATION } from "../../support/trust-contents.ts";
import { assignmentFrame, contextOf, newKeys, snapshotFrame } from "../../support/trust.ts";

const keys = newKeys();

test.each(COMPILED_SCOPES)("%s is read in one pass, as itself", (scope) => {
  const read = readContent(scope, canonicalBytes(CONTENTS[scope]));
  expect(read?.value).toEqual(parseCanonical(canonicalBytes(CONTENTS[scope])));
  const owners = JSON.stringify(CONTENTS[scope]).includes('"organization_id"') ? [ORGANIZATION] : [];
  expect([...read!.organizations]).toEqual(owners);
});

test("the headers of snapshots and increments are read in one pass", () => {
  const { header } = decodeFrame(assignmentFrame(keys));
  const read = readerFor(SnapshotHeader, { isSearched: false });
  expect(read(header)?.value).toEqual(JSON.parse(header.toString()));
  const either = readerFor(IncrementHeader.or(SnapshotHeader), { isSearched: false });
  expect(either(header)?.value).toEqual(JSON.parse(header.toString()));
});

/** What decides without the reader. */
function slowly(scope: CompiledScope, bytes: Buffer): { readonly value: Json } | null {
  let value: Json;
  try {
    value = parseCanonical(bytes);
  } catch {
    return null;
  }
  return checkContent(scope, value, null) === null && findSecret(value) === null ? { value } : null;
}

function agrees(scope: CompiledScope, bytes: Buffer): void {
  const read = readContent(scope, bytes);
  if (read === null) return;
  expect(slowly(scope, bytes)).toEqual({ value: read.value });
}

const scopes = fc.constantFrom(...COMPILED_SCOPES);

test("whatever the reader accepts of damaged bytes, the slow way accepts with the same value", () => {
  fc.assert(
    fc.property(
      scopes,
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      fc.boolean(),
      (scope, place, change, cut) => {
        const good = canonicalBytes(CONTENTS[scope]);
        const at = place % good.length;
        const bad = Buffer.from(good);
        bad[at]! ^= change;
        agrees(scope, bad);
        const rest = good.subarray(at);
        agrees(
          scope,
          Buffer.concat([good.subarray(0, at), cut ? rest.subarray(1) : Buffer.from([change]), rest]),
        );
        agrees(scope, Buffer.concat([good.subarray(0, at), rest.subarray(1)]));
      },
    ),
    { numRuns: 1000 },
  );
});

/** Values of all kinds where a string, a number or a list stood. */
const replacement = fc.oneof(
  fc.constantFrom<Json>(
    null,
    true,
    0,
    -1,
    1.5,
    2 ** 53 - 1,
    "",
    [],
    {},
    "secret://vault/a",
    "10.0.0.0/8",
    "::/0",
  ),
  fc.string({ maxLength: 30 }),
  fc.array(fc.string({ maxLength: 5 }), { maxLength: 3 }),
);

function replacedAt(value: Json, place: { left: number }, by: Json): Json {
  if (place.left-- === 0) return by;
  if (Array.isArray(value)) return value.map((item: Json) => replacedAt(item, place, by));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value as Record<string, Json>);
  return Object.fromEntries(entries.map(([key, item]) => [key, replacedAt(item, place, by)]));
}

test("whatever the reader accepts of other values, the slow way accepts with the same value", () => {
  fc.assert(
    fc.property(scopes, fc.nat(40), replacement, (scope, left, by) => {
      const changed = JSON.parse(JSON.stringify(replacedAt(CONTENTS[scope], { left }, by))) as Json;
      agrees(scope, canonicalBytes(changed));
    }),
    { numRuns: 1000 },
  );
});

test("ids and digests by their places are those of their patterns", () => {
  const text = fc.oneof(
    fc.stringMatching(/^[0-9a-fA-Fg]{64}$/),
    fc.stringMatching(/^sha256:[0-9a-f]{63,65}$/),
    fc.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/),
    fc.uuid().map((id) => id.toUpperCase()),
  );
  for (const schema of [Uuid, Digest, KeyId] as z.ZodType[]) {
    const read = readerFor(schema, { isSearched: true });
    fc.assert(
      fc.property(text, (word) => {
        const found = read(canonicalBytes(word));
        expect(found?.value ?? null).toBe(schema.safeParse(word).success ? word : null);
      }),
    );
  }
});

test("addresses and ranges by their bytes are those of their patterns", () => {
  const digits = fc.stringMatching(/^(?:[0-9]{1,4}|)$/);
  const range = fc
    .tuple(digits, digits, digits, digits, digits)
    .map((parts) => parts.slice(0, 4).join(".") + "/" + parts[4]);
  const likely = fc
    .tuple(fc.nat(300), fc.nat(3), fc.nat(256), fc.nat(40))
    .map(([a, b, c, d]) => `${a}.${b}.${c}.0/${d}`);
  const address = fc.stringMatching(/^[a-f0-9.:[\]-]{0,8}:[0-9]{0,6}$/);
  const text = fc.oneof(
    range,
    likely,
    address,
    fc.constantFrom(":1", "a:", "a:123456", "a:1", "1.2.3.4/", "/8", "01.2.3.4/8"),
  );
  for (const schema of [Cidr, HostPort] as z.ZodType[]) {
    const read = readerFor(schema, { isSearched: false });
    fc.assert(
      fc.property(text, (word) => {
        expect(read(canonicalBytes(word))?.value ?? null).toBe(schema.safeParse(word).success ? word : null);
      }),
      { numRuns: 500 },
    );
  }
});

test("a schema that is not known is read by nobody, and what is not plain ASCII by the slow way", () => {
  expect(readerFor(z.object({ a: z.int() }), { isSearched: true })(canonicalBytes({ a: 1 }))).toBeNull();
  expect(readerFor(z.record(z.string(), z.int()), { isSearched: true })(canonicalBytes({}))).toBeNull();
  const password = z.strictObject({ password: z.string() });
  expect(readerFor(password, { isSearched: true })(canonicalBytes({ password: "x" }))).toBeNull();
  const [route] = CONTENTS.route_policy["routes"] as { readonly [key: string]: Json }[];
  for (const description of ["café", 'a "quoted" word', "two\nlines"]) {
    const content = { routes: [{ ...route, description }] };
    expect(readContent("route_policy", canonicalBytes(content))).toBeNull();
    const header = { scope_type: "route_policy", organization_ids: [ORGANIZATION] };
    const frame = snapshotFrame({ header, content, signers: [keys.online] });
    const context = contextOf(keys, { organizationIds: [ORGANIZATION] });
    expect(verifySnapshot(frame, context)).toMatchObject({ kind: "accepted", content });
  }
});

test.each(["DB_PASSWORD=hunter2", ["AKIA", "IOSFODNN7EXAMPLE"].join(""), "redis://:pw@cache"])(
  "the reader takes no string that hides a secret: %s",
  (description) => {
    const [route] = CONTENTS.route_policy["routes"] as { readonly [key: string]: Json }[];
    expect(readContent("route_policy", canonicalBytes({ routes: [{ ...route, description }] }))).toBeNull();
  },
);
