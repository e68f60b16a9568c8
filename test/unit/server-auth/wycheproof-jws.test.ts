// Wycheproof's JSON web signatures, judged by the library under the algorithms that we allow.

import { existsSync, readFileSync } from "node:fs";
import { compactVerify, createLocalJWKSet, decodeProtectedHeader, type JWK } from "jose";
import { describe, expect, test } from "vitest";
import { OIDC_ALGORITHMS } from "../../../src/server/auth/oidc.ts";

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

/** Not part of this repository: read where the vectors lie beside it. */
const file = new URL(
  "../../../../shared/vectors/wycheproof/testvectors_v1/json_web_signature_test.json",
  import.meta.url,
);
const groups: readonly Group[] = existsSync(file)
  ? (JSON.parse(readFileSync(file, "utf8")) as { testGroups: Group[] }).testGroups
  : [];

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
