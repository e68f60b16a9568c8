// What is taken from a node's signing request, and what is not.

import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { ClusterId, NodeId } from "../../../src/core/ids.ts";
import { nodeOfSubject } from "../../../src/server/identity/node-certificate.ts";
import { readSigningRequest } from "../../../src/server/identity/signing-request.ts";
import { newNodeKey } from "../../support/server/agent-client.ts";

test.each(["P-256", "Ed25519"] as const)(
  "a %s key is taken, and named by the hash of its bytes",
  async (kind) => {
    const { csr } = await newNodeKey(kind);
    const { spki, keyHash } = await readSigningRequest(csr);
    expect(keyHash).toBe(createHash("sha256").update(spki).digest("hex"));
  },
);

test("two requests with one key name the same key", async () => {
  const { csr } = await newNodeKey();
  expect((await readSigningRequest(csr)).keyHash).toBe((await readSigningRequest(`\n${csr}\n`)).keyHash);
});

describe("refused", () => {
  const flipped = (pem: string): string => {
    const bytes = Buffer.from(pem.replaceAll(/-----[^-]+-----|\s/g, ""), "base64");
    bytes[bytes.length - 1]! ^= 1;
    return `-----BEGIN CERTIFICATE REQUEST-----\n${bytes.toString("base64")}\n-----END CERTIFICATE REQUEST-----`;
  };
  const cases: readonly (readonly [string, () => Promise<string> | string])[] = [
    ["a P-384 key", async () => (await newNodeKey("P-384")).csr],
    [
      "a key that another signs for",
      async () => (await newNodeKey("P-256", { signWith: (await newNodeKey()).pem })).csr,
    ],
    ["a flipped bit in the signature", async () => flipped((await newNodeKey()).csr)],
    ["a small-order Ed25519 point", async () => smallOrder((await newNodeKey("Ed25519")).csr)],
    ["a private key", async () => (await newNodeKey()).pem],
    ["no PEM", () => "csr"],
    ["nothing", () => ""],
  ];
  test.each(cases)("%s", async (_what, csr) => {
    await expect(readSigningRequest(await csr())).rejects.toMatchObject({
      code: "INVALID_INPUT",
      detail: { field: "csr" },
    });
  });

  /** The point 1, under which some signature verifies for every message. */
  function smallOrder(pem: string): string {
    const bytes = Buffer.from(pem.replaceAll(/-----[^-]+-----|\s/g, ""), "base64");
    const at = bytes.indexOf(Buffer.from("302a300506032b6570032100", "hex")) + 12;
    bytes.fill(0, at, at + 32);
    bytes[at] = 1;
    return `-----BEGIN CERTIFICATE REQUEST-----\n${bytes.toString("base64")}\n-----END CERTIFICATE REQUEST-----`;
  }
});

describe("the node that a certificate names", () => {
  const cluster = ClusterId.parse("11111111-1111-4111-8111-111111111111");
  const node = NodeId.parse("22222222-2222-4222-8222-222222222222");

  test("is read from the one URI that the server writes", () => {
    expect(nodeOfSubject(`URI:fairlead://${cluster}/node/${node}`, cluster)).toBe(node);
  });

  test.each([
    undefined,
    "",
    `URI:fairlead://${cluster}/peer/${node}`,
    `URI:fairlead://${node}/node/${node}`,
    `URI:fairlead://${cluster}/node/${node}/x`,
    `URI:fairlead://${cluster}/node/${node}, DNS:localhost`,
    `DNS:localhost, URI:fairlead://${cluster}/node/${node}`,
    `DNS:"x, URI:fairlead://${cluster}/node/${node}"`,
    `URI:FAIRLEAD://${cluster}/node/${node}`,
  ])("is nobody for %s", (name) => {
    expect(nodeOfSubject(name, cluster)).toBeNull();
  });
});
