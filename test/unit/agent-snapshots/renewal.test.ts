// A certificate is renewed by the control plane, and only while it is known to be there (SNAP-9).
import "reflect-metadata";
import { createPrivateKey, createPublicKey } from "node:crypto";
import { X509CertificateGenerator } from "@peculiar/x509";
import { expect, test, vi } from "vitest";
import { createContact } from "../../../src/agent/degraded/contact.ts";
import { generateNodeKey } from "../../../src/agent/identity/csr.ts";
import { keepRenewed } from "../../../src/agent/identity/renew.ts";
import { createLogger, silentLogger } from "../../../src/host/log.ts";
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

interface Situation {
  readonly headFresh?: boolean;
  readonly endsInMs?: number;
  readonly inDoubt?: boolean;
  readonly revoked?: boolean;
}

async function renew({
  headFresh = true,
  endsInMs = HOUR_MS / 2,
  inDoubt = false,
  revoked = false,
}: Situation) {
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
      isRefused: () => revoked,
      assignedUntil: () => null,
    },
    contact,
  );
  const private_key = generateNodeKey();
  const leaving = new AbortController();
  const lines: string[] = [];
  let [asked, proved] = [0, 0];
  const next = () => certificateFor(private_key, 3 * HOUR_MS);
  const due = identityOf(newKeys(), {
    private_key,
    certificate_chain: await certificateFor(private_key, endsInMs),
  });
  const running = keepRenewed({
    identity: due,
    dataDir: await temporaryFolder(),
    now: () => NOW,
    isInDoubt: async () => inDoubt && proved === 0,
    log: createLogger({ level: "info", write: (line) => void lines.push(line) }),
    signal: leaving.signal,
    keeper,
    link: () => ({ renew: async () => ((asked += 1), next()) }) as never,
    byProof: async () => ((proved += 1), next()),
    renewed: () => undefined,
  });
  await until("it has tried", () => lines.length > 0);
  leaving.abort();
  await running;
  return { asked, proved, said: lines.join("\n") };
}

test("SNAP-9: a certificate is renewed while the control plane is there", async () => {
  const { asked, said } = await renew({});
  expect([asked, said]).toEqual([1, expect.stringContaining("certificate renewed")]);
});

test("SNAP-9: without a fresh head no certificate is asked for, and the old one serves on", async () => {
  const { asked, said } = await renew({ headFresh: false });
  expect([asked, said]).toEqual([0, expect.stringContaining("issue_certificates needs a fresh head")]);
});

test.each<[string, Situation]>([
  ["has expired", { endsInMs: -1, headFresh: false }],
  ["is not valid yet", { endsInMs: 24 * HOUR_MS, headFresh: false }],
  ["may have ended while the clock is unset", { endsInMs: 3 * HOUR_MS, headFresh: false, inDoubt: true }],
])(
  "SNAP-17: a certificate that %s is renewed by a proof, without the gate of a connection",
  async (_when, situation) => {
    const { asked, proved, said } = await renew(situation);
    expect([asked, proved, said]).toEqual([0, 1, expect.stringContaining("certificate renewed")]);
  },
);

test("SNAP-17: a node that knows of its revocation proves nothing with an expired certificate", async () => {
  const { proved, said } = await renew({ endsInMs: -1, revoked: true });
  expect([proved, said]).toEqual([0, expect.stringContaining("this node is revoked")]);
});

test.each([
  ["in doubt", 3 * HOUR_MS, true],
  ["before the beginning of its certificate", 24 * HOUR_MS, false],
])(
  "SNAP-17: a node that stays %s after a renewal by proof pauses before the next",
  async (_, endsInMs, inDoubt) => {
    vi.useFakeTimers();
    try {
      const private_key = generateNodeKey();
      const certificate_chain = await certificateFor(private_key, endsInMs);
      const leaving = new AbortController();
      let proved = 0;
      let renewals = 0;
      const running = keepRenewed({
        identity: identityOf(newKeys(), { private_key, certificate_chain }),
        dataDir: await temporaryFolder(),
        now: () => NOW,
        isInDoubt: async () => inDoubt,
        log: silentLogger,
        signal: leaving.signal,
        keeper: { ask: () => ({ kind: "open" }), passGate: () => ({ kind: "open" }) },
        link: () => ({}) as never,
        byProof: async () => {
          proved += 1;
          if (proved > 2) leaving.abort();
          return certificate_chain;
        },
        renewed: () => void (renewals += 1),
      });
      await vi.waitFor(() => expect(renewals).toBe(1));
      await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1));
      expect(proved).toBe(1);
      await vi.advanceTimersByTimeAsync(60_000);
      await vi.waitFor(() => expect(renewals).toBe(2));
      leaving.abort();
      await running;
      expect(proved).toBe(2);
    } finally {
      vi.useRealTimers();
    }
  },
);
