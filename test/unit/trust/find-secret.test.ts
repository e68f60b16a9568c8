import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { expect, test } from "vitest";
import type { Json } from "../../../src/core/json.ts";
import { findSecret } from "../../../src/trust/find-secret.ts";
import { bundleOf, newKeys, upgrading } from "../../support/trust.ts";

const base64 = (value: string | Buffer): string => Buffer.from(value).toString("base64");
const ed25519 = generateKeyPairSync("ed25519");
const ec = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
const pem = ed25519.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const der = (key: KeyObject, type: "pkcs8" | "pkcs1" | "sec1"): string =>
  base64(key.export({ type, format: "der" } as never));
// Put together here, so that no scanner takes this file for a leak.
const jwt = ["eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiJhbm4ifQ", "c2lnbmF0dXJlLi4u"].join(".");
const cloudKey = ["AKIA", "IOSFODNN7EXAMPLE"].join("");

test.each<[string, Json, string]>([
  ["a PEM private key", { note: pem }, "content.note"],
  ["a PEM private key, nested", { a: [{ b: { c: `x ${pem}` } }] }, "content.a.0.b.c"],
  ["a PEM private key in base64", { note: base64(pem) }, "content.note"],
  ["a PEM private key in base64 twice", { note: base64(base64(pem)) }, "content.note"],
  ["base64 broken over lines", { note: base64(pem).replaceAll(/.{20}/g, "$&\n") }, "content.note"],
  ["an Ed25519 key as DER", { note: der(ed25519.privateKey, "pkcs8") }, "content.note"],
  ["an EC key as SEC1", { note: der(ec, "sec1") }, "content.note"],
  ["an RSA key as PKCS#1", { note: der(rsa, "pkcs1") }, "content.note"],
  ["an RSA key as PKCS#8", { note: der(rsa, "pkcs8") }, "content.note"],
  ["a JSON web token", { url: `https://x/?t=${jwt}` }, "content.url"],
  ["a cloud access key", { note: cloudKey }, "content.note"],
  ["a WireGuard configuration", { text: "[Interface]\nPrivateKey = abc=" }, "content.text"],
  ["a field called password", { password: "x" }, "content.password"],
  ["a field called client_secret", { oauth: { client_secret: "x" } }, "content.oauth.client_secret"],
  ["a field called apiKey", { apiKey: "x" }, "content.apiKey"],
])("%s is found where it is (SNAP-5)", (_, value, path) => {
  expect(findSecret(value)).toMatchObject({ path });
});

test.each<[string, Json]>([
  ["a trust bundle", bundleOf(newKeys())],
  ["an assignment", { assignments: [upgrading()] }],
  [
    "a public RSA key",
    {
      public_key: base64(
        generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey.export({ type: "spki", format: "der" }),
      ),
    },
  ],
  ["a public key as PEM", { note: ed25519.publicKey.export({ type: "spki", format: "pem" }).toString() }],
  ["a reference to a secret", { secret_ref: "vault:db", token_ttl_seconds: 60 }],
  ["numbers, nulls and words", [1, null, true, "the secret of success"]],
])("%s holds none", (_, value) => {
  expect(findSecret(value)).toBeNull();
});

const wrapped = (text: string, times: number, wrap: (text: string) => string): string =>
  Array.from({ length: times }).reduce<string>(wrap, text);
const inJson = (text: string): string => JSON.stringify([text]);
/** A name that only a parser of JSON reads. */
const escaped = String.raw`{"pass\u0077ord": "x"}`;

test("a secret is looked for through four wrappings, and no further", () => {
  expect(findSecret(wrapped(pem, 4, base64))).not.toBeNull();
  expect(findSecret(wrapped(pem, 9, base64))).toBeNull();
  expect(findSecret(wrapped(escaped, 3, inJson))).not.toBeNull();
  expect(findSecret(wrapped(escaped, 4, inJson))).toBeNull();
});

test("a text that was harmless below the last wrapping is not remembered as harmless", () => {
  expect(findSecret({ a: wrapped(escaped, 4, inJson) })).toBeNull();
  expect(findSecret({ a: escaped })).not.toBeNull();
});

/** The beginning of a private key in DER, in base64 without a digit or a letter of hex. */
const DER = "MAACAQAB";
const DER_HEX = "3000020100";

test.each([
  ["a cloud key in 64 characters without hex", `AKIA${"X".repeat(16)} ${"Z".repeat(43)}`],
  ["a private key that is nearly an id", `${DER}-abcd-abcd-abcd-abcdabcdabcd`],
  ["base64 behind a name, without a blank", `kept:${base64(pem)}`],
  ["base64 of sixteen characters", `${DER}AAAAAAAA`],
  ["hex of eighty digits", DER_HEX.padEnd(80, "0")],
  ["JSON behind a blank, with an escape in a name", String.raw` {"pass\u0077ord": "x"}`],
])("%s is found", (_, note) => {
  expect(findSecret({ note })).not.toBeNull();
});

test.each([
  ["JSON without a secret", '{"a": "b"}'],
  ["a text in quotes", '"a"'],
  ["hex of fewer than eighty digits", DER_HEX.padEnd(78, "0")],
  ["base64 of fewer than sixteen characters", `${DER.slice(0, 7)}=`],
  ["base64 of sixteen characters behind another", `!${DER}AAAAAAAA`],
  ["base64 of sixteen characters before another", `${DER}AAAAAAAA!`],
  ["hex with other letters behind it", `${DER_HEX.padEnd(80, "0")}zz`],
])("%s is no secret", (_, note) => {
  expect(findSecret({ note })).toBeNull();
});

test("a secret by its name says so", () => {
  expect(findSecret({ password: "x" })).toEqual({
    path: "content.password",
    looksLike: "a secret by its name",
  });
});
