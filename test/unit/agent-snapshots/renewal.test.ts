// A certificate is renewed by the control plane, and only while it is known to be there (SNAP-9).
import "reflect-metadata";
import { createPrivateKey, createPublicKey } from "node:crypto";
import { X509CertificateGenerator } from "@peculiar/x509";
import { expect, test } from "vitest";
import { createContact } from "../../../src/agent/degraded/contact.ts";
import { generateNodeKey } from "../../../src/agent/identity/csr.ts";
import { keepRenewed } from "../../../src/agent/identity/renew.ts";
import { createLogger } from "../../../src/host/log.ts";
import { createGateKeeper } from "../../../src/agent/degraded/gate-keeper.ts";
import { until } from "../../support/programs/until.ts";
import { HOUR_MS, newKeys, NODE, NOW } from "../../support/trust.ts";
import { identityOf, temporaryFolder } from "../agent-authority/node.ts";

/** Issued with a life of three hours that ends in `endsInMs`. */
async function certificateFor(pem: string, endsInMs: number): Promise<string> {
  const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
  const certificate = await X509CertificateGenerator.createSelfSigned({
    keys: {
      privateKey: createPrivateKey(pem).toCryptoKey(algorithm, false, ["sign"]) as CryptoKey,
      publicKey: createPublicKey(pem).toCryptoKey(algorithm, true, ["verify"]) as CryptoKey,
    },
    notBefore: new Date(NOW + endsInMs - 3 * HOUR_MS),
    notAfter: new Date(NOW + endsInMs),
    signingAlgorithm: algorithm,
  });
  return certificate.toString("pem");
}

async function renew(headFresh: boolean) {
  const clock = { now: () => NOW, monotonic: () => 0 };
  const contact = createContact(clock);
  contact.answered();
  const keeper = createGateKeeper(
    {
      nodeId: NODE,
      isHeadFresh: () => headFresh,
      policy: () => null,
      silentMs: () => 0,
      time: () => ({ local: NOW, effective: NOW }),
      revoked: () => [],
      isRefused: () => false,
      assignment: () => null,
    },
    contact,
  );
  const private_key = generateNodeKey();
  const leaving = new AbortController();
  const lines: string[] = [];
  let asked = 0;
  const due = identityOf(newKeys(), {
    private_key,
    certificate_chain: await certificateFor(private_key, HOUR_MS / 2),
  });
  const running = keepRenewed({
    identity: due,
    dataDir: await temporaryFolder(),
    clock,
    log: createLogger({ level: "info", write: (line) => void lines.push(line) }),
    signal: leaving.signal,
    keeper,
    link: () => ({ renew: async () => ((asked += 1), certificateFor(private_key, 3 * HOUR_MS)) }) as never,
    renewed: () => undefined,
  });
  await until("it has tried", () => lines.length > 0);
  leaving.abort();
  await running;
  return { asked, said: lines.join("\n") };
}

test("SNAP-9: a certificate is renewed while the control plane is there", async () => {
  const { asked, said } = await renew(true);
  expect([asked, said]).toEqual([1, expect.stringContaining("certificate renewed")]);
});

test("SNAP-9: without a fresh head no certificate is asked for, and the old one serves on", async () => {
  const { asked, said } = await renew(false);
  expect([asked, said]).toEqual([0, expect.stringContaining("issue_certificates needs a fresh head")]);
});
