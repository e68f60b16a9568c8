import { verify } from "node:crypto";
import { expect, test } from "vitest";
import { keyIdOf, loadPublicKey } from "../../../src/trust/keys.ts";
import { readVector } from "../../support/vectors.ts";

interface Vectors {
  readonly testGroups: readonly {
    readonly publicKeyDer: string;
    readonly tests: readonly { tcId: number; msg: string; sig: string; result: "valid" | "invalid" }[];
  }[];
}

/** The first cases of the published file, for a clone that does not have it. */
const FEW: Vectors = {
  testGroups: [
    {
      publicKeyDer:
        "302a300506032b65700321007d4d0e7f6153a69b6242b522abbee685fda4420f8834b108c3bdae369ef549fa",
      tests: [
        {
          tcId: 1,
          msg: "",
          sig: "d4fbdb52bfa726b44d1786a8c0d171c3e62ca83c9e5bbe63de0bb2483f8fd6cc1429ab72cafc41ab56af02ff8fcc43b99bfe4c7ae940f60f38ebaa9d311c4007",
          result: "valid",
        },
        {
          tcId: 2,
          msg: "78",
          sig: "d4fbdb52bfa726b44d1786a8c0d171c3e62ca83c9e5bbe63de0bb2483f8fd6cc1429ab72cafc41ab56af02ff8fcc43b99bfe4c7ae940f60f38ebaa9d311c4007",
          result: "invalid",
        },
      ],
    },
  ],
};

test("Ed25519 signatures verify and fail as Wycheproof says, through the keys as they are loaded (SNAP-7)", () => {
  const file = readVector("wycheproof/testvectors_v1/ed25519_test.json");
  const { testGroups } = file === undefined ? FEW : (JSON.parse(file.toString()) as Vectors);
  const cases = testGroups.flatMap(({ publicKeyDer, tests }) => {
    const spki = Buffer.from(publicKeyDer, "hex");
    const key = loadPublicKey({
      key_id: keyIdOf(spki),
      algorithm: "Ed25519",
      public_key: spki.toString("base64"),
    });
    return tests.map(({ tcId, msg, sig, result }) => ({
      tcId,
      result,
      found: verify(null, Buffer.from(msg, "hex"), key, Buffer.from(sig, "hex")) ? "valid" : "invalid",
    }));
  });
  expect(cases.some(({ result }) => result === "valid")).toBe(true);
  expect(cases.some(({ result }) => result === "invalid")).toBe(true);
  expect(cases.filter(({ result, found }) => result !== found)).toEqual([]);
});
