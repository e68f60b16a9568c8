// Raw secrets as they come, however wrapped (SNAP-5), and what only looks like one.
import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json } from "../../../src/core/json.ts";
import { COMPILED_SCOPES } from "../../../src/core/snapshot/roles.ts";
import { digestOf } from "../../../src/trust/digest.ts";
import { findSecret } from "../../../src/trust/find-secret.ts";
import { generateSigner } from "../../../src/trust/keys.ts";
import { CONTENTS } from "../../support/trust-contents.ts";
import { bundleOf, newKeys } from "../../support/trust.ts";

const base64 = (value: string | Buffer): string => Buffer.from(value).toString("base64");
// Put together here, so that no scanner takes this file for a leak.
const made = (...parts: string[]): string => parts.join("");
const wireguardKey = base64(Buffer.alloc(32, 7));

const SECRETS: Record<string, string> = {
  "a PKCS#8 key": generateSigner().pem,
  "an encrypted key": made("-----BEGIN ENCRYPTED ", "PRIVATE KEY-----\nMIIB\n"),
  "an OpenSSH key": made("-----BEGIN OPENSSH ", "PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmU\n"),
  "a PGP key": made("-----BEGIN PGP ", "PRIVATE KEY BLOCK-----\n"),
  "a PuTTY key": made("PuTTY-User-Key-", "File-3: ssh-ed25519"),
  "a WireGuard interface": `[Interface]\nPrivateKey = ${wireguardKey}\nAddress = 10.0.0.1/24`,
  "a WireGuard peer": `[Peer]\nPresharedKey=${wireguardKey}`,
  "an access key": made("AKIA", "IOSFODNN7EXAMPLE"),
  "a temporary access key": made("ASIA", "IOSFODNN7EXAMPLE"),
  "an access key's other half": made("aws_secret_access_", "key=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
  "a service account": '{"type":"service_account","private_key":"x"}',
  "a storage account": made("DefaultEndpointsProtocol=https;Account", `Key=${base64(Buffer.alloc(64, 1))}`),
  "a GitHub token": made("ghp_", "a1B2".repeat(9)),
  "a fine-grained GitHub token": made("github_pat_", "11AAAAAAA0", "a".repeat(30)),
  "a Slack token": made("xoxb-", "123456789012-abcdefghijkl"),
  "a Stripe key": made("sk_live_", "4eC39HqLyjWDarjtT1zdp7dc"),
  "a JSON web token": made("eyJhbGciOiJIUzI1NiJ9", ".eyJzdWIiOiJhbm4ifQ", ".c2lnbmF0dXJlLi4u"),
  "a password in an address": "postgres://ann:hunter2@db.example:5432/x",
  "a password without a user in an address": "redis://:hunter2@cache.example",
  "a password in words": "the password: hunter2",
  "a password as an assignment": "DB_PASSWORD=hunter2",
  "an authorization header": "Authorization: Bearer abcdefghijklmnopqrstuvwxyz",
  "a password's hash": made("$2b$10$", "N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy"),
};

const WRAPPINGS: Record<string, (text: string) => Json> = {
  plain: (text) => text,
  "among words": (text) => `see here:\n${text}\nand there`,
  "in base64": base64,
  "in base64url": (text) => Buffer.from(text).toString("base64url"),
  "in base64 broken over lines": (text) => base64(text).replaceAll(/.{11}/g, "$&\r\n"),
  "in base64 among words": (text) => `kept as ${base64(`${text}   `)} for later`,
  "in base64 three times": (text) => base64(base64(base64(text))),
  "in base64 of two bytes a letter": (text) => base64(Buffer.from(text, "utf16le")),
  "in hex": (text) => Buffer.from(text.padEnd(50)).toString("hex"),
  "in JSON in a string": (text) => JSON.stringify({ note: [text] }),
  "in JSON in JSON in base64": (text) => base64(JSON.stringify({ note: JSON.stringify({ note: text }) })),
};

const table = Object.entries(SECRETS).flatMap(([what, secret]) =>
  Object.entries(WRAPPINGS).map(([how, wrap]) => [what, how, wrap(secret)] as const),
);

test.each(table)("SNAP-5: %s %s is found", (_what, _how, note) => {
  expect(findSecret({ a: [{ note }] })).toMatchObject({ path: "content.a.0.note" });
});

test.each([
  ["password", "x"],
  ["db_password", "x"],
  ["dbPassword", "x"],
  ["DB-PASSWORD", "x"],
  ["passphrase", "x"],
  ["private_key", wireguardKey],
  ["privateKey", wireguardKey],
  ["psk", wireguardKey],
  ["preshared_key", wireguardKey],
  ["preSharedKey", wireguardKey],
  ["api_key", "x"],
  ["aws_secret_access_key", "x"],
  ["account_key", "x"],
  ["client_secret", "x"],
  ["tokens", ["x"]],
  ["credentials", { user: "ann" }],
  ["secret", null],
])("SNAP-5: whatever stands under the name %s is a secret", (name, value) => {
  expect(findSecret({ a: { [name]: value } })).toMatchObject({ path: `content.a.${name}` });
});

test("a reference to where a secret is kept is none, under any name", () => {
  expect(findSecret({ password: "secret://vault/db/login", tokens: ["secret://vault/a"] })).toBeNull();
  expect(findSecret({ secret_refs: ["secret://vault/db/login"], note: "see secret://vault/db" })).toBeNull();
  expect(findSecret({ password: "secret://ann:hunter2@vault/db" })).not.toBeNull();
});

test.each(COMPILED_SCOPES)("a whole %s content holds none", (scope) => {
  expect(findSecret(CONTENTS[scope])).toBeNull();
});

test("no trust bundle, digest, id or public key is taken for a secret, whatever its bytes", () => {
  const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((value) => Buffer.from(value));
  fc.assert(
    fc.property(bytes, fc.uuid(), (value, id) => {
      const hex = value.toString("hex");
      const plain: Json = {
        key_id: hex,
        content_hash: digestOf(value),
        node_id: id,
        public_key: Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), value]).toString("base64"),
        wireguard_public_key: value.toString("base64"),
        raw: value.toString("base64url"),
        words: `node ${id} runs ${digestOf(value)}`,
      };
      expect(findSecret(plain)).toBeNull();
    }),
  );
  for (let round = 0; round < 3; round++) expect(findSecret(bundleOf(newKeys()))).toBeNull();
});

test("a secret is found wherever it stands among what is none", () => {
  const place = fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 6 });
  const secret = fc.constantFrom(...Object.values(SECRETS));
  fc.assert(
    fc.property(place, secret, fc.jsonValue({ maxDepth: 2 }), (path, text, other) => {
      const value = path.reduceRight<Json>((inner, key) => ({ z: 1, [key]: [inner] }), text);
      expect(findSecret({ value, other: JSON.parse(JSON.stringify(other)) as Json })).not.toBeNull();
    }),
  );
});

test("plain words about secrets are none", () => {
  for (const words of [
    "the secret of success",
    "ask for the password at the desk",
    "token lifetime 60 s, private key kept in the vault",
    "https://id.example/token?x",
    "vpn_connection:branch-7",
    "secret:db-main",
    "10.0.0.1:7000",
    base64(randomBytes(24)),
  ])
    expect([words, findSecret({ words })]).toEqual([words, null]);
});
