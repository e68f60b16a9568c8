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
