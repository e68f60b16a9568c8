/** A whole agent whose control plane does not answer (SNAP-9): what it keeps, what it starts, what it leaves alone. */
import "reflect-metadata";
import { createPrivateKey, createPublicKey } from "node:crypto";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { X509CertificateGenerator } from "@peculiar/x509";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runAgent } from "../../../src/agent/agent.ts";
import { AgentConfig } from "../../../src/agent/config.ts";
import { generateNodeKey } from "../../../src/agent/identity/csr.ts";
import { folderOf, writeIdentity, type Identity } from "../../../src/agent/identity/store.ts";
import { openSnapshotStore } from "../../../src/agent/snapshots/store.ts";
import { helloProgram } from "../../../src/demo/hello-program.ts";
import { createLogger } from "../../../src/host/log.ts";
import { SHIM } from "../../support/programs/built.ts";
import { freePort } from "../../support/programs/free-port.ts";
import { machine, PROFILE, type Machine } from "../../support/programs/machine.ts";
import { until } from "../../support/programs/until.ts";
import { headFrame, PERMISSIVE, policyFrame } from "../../support/snapshot-frames.ts";
import { bundleFrame, HOUR_MS, newKeys, NOW } from "../../support/trust.ts";
import { identityOf } from "../../unit/agent-authority/node.ts";

const keys = newKeys();
const clock = { now: () => NOW, monotonic: () => performance.now() };

let m: Machine;
let identity: Identity;
beforeEach(async () => {
  m = await machine();
  await writeFile(m.program.install_path, helloProgram("1.0.0"));
  await chmod(m.program.install_path, 0o755);
  const private_key = generateNodeKey();
  const certificate_chain = await certificateFor(private_key);
  const agent_url = `https://127.0.0.1:${await freePort()}`; // nobody listens there
  identity = identityOf(keys, { private_key, certificate_chain, ca: certificate_chain, agent_url });
  await writeIdentity(m.root, identity);
});
afterEach(() => m.close());

async function certificateFor(pem: string): Promise<string> {
  const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
  const certificate = await X509CertificateGenerator.createSelfSigned({
    keys: {
      privateKey: createPrivateKey(pem).toCryptoKey(algorithm, false, ["sign"]) as CryptoKey,
      publicKey: createPublicKey(pem).toCryptoKey(algorithm, true, ["verify"]) as CryptoKey,
    },
    notBefore: new Date(NOW - HOUR_MS),
    notAfter: new Date(NOW + 720 * HOUR_MS),
    signingAlgorithm: algorithm,
  });
  return certificate.toString("pem");
}

/** What it was told while it was connected. */
async function told(...frames: readonly Buffer[]): Promise<void> {
  const store = await openSnapshotStore(folderOf(m.root, identity), identity, clock);
  await store.apply(bundleFrame(keys));
  await store.takeHead(headFrame(keys));
  for (const frame of frames) expect((await store.apply(frame)).kind).toBe("accepted");
}

/** `look` gets what the agent has logged so far. */
async function whileAgentRuns(look: (lines: readonly string[]) => Promise<void>): Promise<void> {
  const lines: string[] = [];
  const leaving = new AbortController();
  const agent = runAgent({
    config: AgentConfig.parse({
      data_dir: m.root,
      enroll_url: identity.agent_url,
      programs: { [PROFILE]: m.program },
    }),
    shimCommand: [process.execPath, SHIM],
    clock,
    log: createLogger({ level: "warn", write: (line) => void lines.push(line) }),
    signal: leaving.signal,
  });
  try {
    await look(lines);
  } finally {
    leaving.abort();
    await agent;
  }
}

async function lastRejection(): Promise<{ code: string; subject: string } | null> {
  const path = join(folderOf(m.root, identity), "authority", "ledger.json");
  const text = await readFile(path, "utf8").catch(() => '{"last_rejection":null}');
  return (JSON.parse(text) as { last_rejection: { code: string; subject: string } | null }).last_rejection;
}

test("SNAP-9: offline with a policy that does not let services continue, a stopped program is not started, and the node says why", async () => {
  await told(policyFrame(keys, 1, { ...PERMISSIVE, allowed: [] }));
  await whileAgentRuns(async () => {
    const rejection = await until("it says why", async () => (await lastRejection()) ?? undefined);
    expect(rejection).toMatchObject({ code: "DEGRADED_NOT_ALLOWED", subject: `start of ${PROFILE}` });
  });
  expect(await m.starts()).toEqual([]);
});

test("SNAP-9: offline and without a policy, a stopped program is started again", async () => {
  await told();
  await whileAgentRuns(async () => void (await m.version()));
  expect((await m.starts()).length).toBe(1);
});

test("SNAP-9: offline with a policy that lets services continue, it is started; it outlives the agent and the next one leaves it alone", async () => {
  await told(policyFrame(keys, 1));
  await whileAgentRuns(async () => void (await m.version()));
  const before = await m.version();
  await whileAgentRuns(async (lines) => {
    await until("the next one has found nobody", () => lines.some((line) => line.includes("poll failed")));
  });
  expect(await m.version()).toEqual(before);
  expect((await m.starts()).length).toBe(1);
});
