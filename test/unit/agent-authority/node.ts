/** One node's authority on a real folder: what it was sent, what it keeps, what it says. The program is imagined. */
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { openLedger } from "../../../src/agent/authority/ledger.ts";
import { receiveCommand, type ReceiveDeps, type Received } from "../../../src/agent/authority/receive.ts";
import type { Identity } from "../../../src/agent/identity/store.ts";
import type { Programs } from "../../../src/agent/programs/programs.ts";
import { openSnapshotStore } from "../../../src/agent/snapshots/store.ts";
import type { Digest } from "../../../src/core/ids.ts";
import type { UpgradePayload } from "../../../src/core/protocol/command.ts";
import type { Intent, MerkleProof } from "../../../src/core/protocol/intent.ts";
import type { Assignment } from "../../../src/core/snapshot/service-assignment.ts";
import type { TrustBundle } from "../../../src/core/snapshot/trust-bundle.ts";
import { signCommand, type CommandDraft } from "../../../src/trust/command.ts";
import { intentDigest, signIntent } from "../../../src/trust/intent.ts";
import type { Signer } from "../../../src/trust/keys.ts";
import * as trust from "../../support/trust.ts";

export interface Delivery {
  readonly command?: Partial<CommandDraft>;
  readonly payload?: Partial<UpgradePayload>;
  /** Null: none is sent. */
  readonly intent?: Partial<Intent> | null;
  readonly assignment?: Partial<Extract<Assignment, { kind: "upgrading" }>>;
  /** Of other profiles, in the same snapshot. */
  readonly beside?: readonly Assignment[];
  readonly proof?: MerkleProof;
  readonly commandSigner?: Signer;
  readonly intentSigner?: Signer;
  /** When the control plane says it all. */
  readonly issuedAt?: number;
}

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(await realpath(tmpdir()), "fl-authority-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export const identityOf = (keys: trust.Keys, changes: Partial<Identity> = {}): Identity => ({
  node_id: trust.NODE,
  cluster_id: trust.CLUSTER,
  agent_url: "https://control.example:7401",
  roles: ["egress_service"],
  token_digest: trust.fingerprint("enrollment token"),
  root: trust.bundleOf(keys).root,
  ca: "",
  private_key: "",
  certificate_chain: "",
  ...changes,
});

/** What a closed one does: test/unit/agent-snapshots. */
const openGate: ReceiveDeps["keeper"] = { passGate: () => ({ kind: "open" }) };

export type Node = Awaited<ReturnType<typeof createNode>>;

/** Enrolled and trusting; `bundle` is what the root signed for it. */
export async function createNode(bundleChanges: Partial<TrustBundle> = {}) {
  const keys = trust.newKeys();
  const dataDir = await temporaryFolder();
  const identity = identityOf(keys);
  const world = {
    now: trust.NOW,
    installed: trust.fingerprint("v1") as Digest | null,
    knows: true,
    keeper: openGate,
  };
  const clock = { now: () => world.now, monotonic: () => 0 };
  const programs = { has: () => world.knows, measure: async () => world.installed } as unknown as Programs;
  let snapshots = await openSnapshotStore(dataDir, identity, clock);
  let ledger = await openLedger(dataDir);
  let [sequence, version] = [0, 0];
  await snapshots.apply(trust.bundleFrame(keys, { bundle: trust.bundleOf(keys, bundleChanges) }));

  const deps = (): ReceiveDeps => ({
    identity,
    snapshots,
    ledger,
    programs,
    keeper: world.keeper,
    stateDir: dataDir,
    clock,
  });
  const receive = (command: Buffer, intent: Buffer | null, proof: MerkleProof): Promise<Received> =>
    receiveCommand(deps(), {
      command: command.toString("base64"),
      intent: intent?.toString("base64") ?? null,
      proof,
    });

  /** Signs and applies the assignment, signs the command, and hands out the bytes as they would be delivered. */
  async function prepare(delivery: Delivery = {}) {
    const intent =
      delivery.intent === null
        ? null
        : signIntent(trust.intentOf(delivery.intent ?? {}), delivery.intentSigner ?? keys.release);
    const intent_digest = intent === null ? null : intentDigest(intent);
    const issued = delivery.issuedAt ?? trust.NOW;
    version += 1;
    const header = {
      config_version: version,
      issued_at: trust.at(issued),
      valid_from: trust.at(issued),
      expires_at: trust.at(issued + 24 * trust.HOUR_MS),
      refresh_after: trust.at(issued),
    };
    const own = trust.upgrading({ intent_digest, ...delivery.assignment });
    const assignments = [own, ...(delivery.beside ?? [])];
    await snapshots.apply(trust.assignmentFrame(keys, { header, content: { assignments } }));
    const draft = trust.commandOf({
      sequence: ++sequence,
      intent_digest,
      assignment_config_version: version,
      issued_at: trust.at(issued),
      expires_at: trust.at(issued + trust.HOUR_MS / 4),
      ...delivery.command,
    });
    const command = signCommand(
      draft,
      trust.payloadOf(delivery.payload ?? {}),
      delivery.commandSigner ?? keys.online,
    );
    return { command, intent, own, proof: delivery.proof ?? trust.TREE.proof(trust.NODE) };
  }

  return {
    keys,
    dataDir,
    identity,
    world,
    clock,
    snapshots: () => snapshots,
    ledger: () => ledger,
    deps,
    prepare,
    receive,
    async deliver(delivery: Delivery = {}): Promise<Received> {
      const { command, intent, proof } = await prepare(delivery);
      return receive(command, intent, proof);
    },
    async restart(): Promise<void> {
      snapshots = await openSnapshotStore(dataDir, identity, clock);
      ledger = await openLedger(dataDir);
    },
  };
}

/** `accepted`, `repeated`, or the code of the refusal. */
export const verdictOf = (received: Received): string =>
  received.kind === "refused" ? received.rejection.code : received.kind;
