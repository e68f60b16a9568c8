// Wycheproof's JSON web signatures, judged by the library under the algorithms that we allow. A clone without the
// published file makes a case of each kind itself.

import {
  CompactSign,
  compactVerify,
  createLocalJWKSet,
  decodeProtectedHeader,
  exportJWK,
  generateKeyPair,
  generateSecret,
  type JWK,
} from "jose";
import { describe, expect, test } from "vitest";
import { OIDC_ALGORITHMS } from "../../../src/server/auth/oidc.ts";
import { readVector } from "../../support/vectors.ts";

interface Group {
  readonly comment: string;
  readonly public?: JWK;
  readonly private?: JWK;
  readonly tests: readonly {
    readonly tcId: number;
    readonly comment: string;
    readonly jws: string;
    readonly result: string;
  }[];
}

async function ownGroups(): Promise<Group[]> {
  const sign = (alg: string, key: CryptoKey | Uint8Array) =>
    new CompactSign(new TextEncoder().encode("a payload")).setProtectedHeader({ alg }).sign(key);
  const ours = await generateKeyPair("ES256", { extractable: true });
  const publicKey = { ...(await exportJWK(ours.publicKey)), alg: "ES256" };
  const symmetric = await generateSecret("HS256", { extractable: true });
  const good = await sign("ES256", ours.privateKey);
  const [header, payload, signature = ""] = good.split(".");
  const changed = `${header}.${payload}.${signature.startsWith("A") ? "B" : "A"}${signature.slice(1)}`;
  return [
    {
      comment: "ES256",
      public: publicKey,
      tests: [
        { tcId: 1, comment: "a good signature", jws: good, result: "valid" },
        { tcId: 2, comment: "a changed signature", jws: changed, result: "invalid" },
        { tcId: 3, comment: "no signature", jws: `${header}.${payload}.`, result: "invalid" },
      ],
    },
    {
      comment: "ES256 under a key for ES384",
      public: { ...publicKey, alg: "ES384" },
      tests: [{ tcId: 4, comment: "another algorithm", jws: good, result: "valid" }],
    },
    {
      comment: "HS256",
      private: { ...(await exportJWK(symmetric)), alg: "HS256" },
      tests: [{ tcId: 5, comment: "a shared secret", jws: await sign("HS256", symmetric), result: "valid" }],
    },
  ];
}

const file = readVector("wycheproof/testvectors_v1/json_web_signature_test.json");
const groups: readonly Group[] =
  file === undefined
    ? await ownGroups()
    : (JSON.parse(file.toString()) as { testGroups: Group[] }).testGroups;

const cases = groups.flatMap((group) =>
  group.tests.map((each) => ({ ...each, group: group.comment, key: group.public ?? group.private ?? {} })),
);

async function isAccepted(jws: string, key: JWK): Promise<boolean> {
  try {
    await compactVerify(jws, createLocalJWKSet({ keys: [key] }), { algorithms: [...OIDC_ALGORITHMS] });
    return true;
  } catch {
    return false;
  }
}

test("no symmetric algorithm is on the list, nor none", () => {
  expect(OIDC_ALGORITHMS.filter((name) => !/^(RS|PS|ES)(256|384|512)$|^EdDSA$/.test(name))).toEqual([]);
});

describe("of Wycheproof's signatures", () => {
  test.each(cases.filter(({ result }) => result === "invalid"))(
    "$tcId $group $comment is refused",
    async ({ jws, key }) => {
      expect(await isAccepted(jws, key)).toBe(false);
    },
  );

  const valid = cases.filter(({ result }) => result === "valid");
  const isOurs = ({ key, jws }: { key: JWK; jws: string }) =>
    key.kty !== "oct" && decodeProtectedHeader(jws).alg === key.alg;

  test.each(valid.filter((each) => isOurs(each)))(
    "$tcId $group $comment is accepted",
    async ({ jws, key }) => {
      expect(await isAccepted(jws, key)).toBe(true);
    },
  );

  test.each(valid.filter((each) => !isOurs(each)))(
    "$tcId $group $comment is refused: a symmetric key, or another algorithm than its key names",
    async ({ jws, key }) => {
      expect(await isAccepted(jws, key)).toBe(false);
    },
  );
});
