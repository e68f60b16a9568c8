/**
 * A machine under command: real ledger, outbox, snapshots, runner and files, signed commands, and a control plane that
 * keeps the rows a server would keep. The program is pretended.
 */
import { randomUUID } from "node:crypto";
import { createAuthorizeAgain } from "../../../src/agent/authority/authorize-again.ts";
import { openLedger } from "../../../src/agent/authority/ledger.ts";
import { receiveCommand } from "../../../src/agent/authority/receive.ts";
import { receiveVoidIntent } from "../../../src/agent/authority/receive-void-intent.ts";
import { createContact } from "../../../src/agent/degraded/contact.ts";
import type { GateKeeper } from "../../../src/agent/degraded/gate-keeper.ts";
import type { Identity } from "../../../src/agent/identity/store.ts";
import type { Link } from "../../../src/agent/link/link.ts";
import { openOutbox } from "../../../src/agent/link/outbox.ts";
import type { Programs } from "../../../src/agent/programs/programs.ts";
import { openSnapshotStore } from "../../../src/agent/snapshots/store.ts";
import { createRunner } from "../../../src/agent/upgrade-runner.ts";
import type { Situation } from "../../../src/core/degraded/gate.ts";
import { type Digest, RolloutId } from "../../../src/core/ids.ts";
import type { UpgradeReport } from "../../../src/core/protocol/agent-api.ts";
import { helloProgram } from "../../../src/demo/hello-program.ts";
import { type FileSystemPort, nodeFileSystem } from "../../../src/host/file-system-port.ts";
import { silentLogger } from "../../../src/host/log.ts";
import { signCommand } from "../../../src/trust/command.ts";
import { digestOf } from "../../../src/trust/digest.ts";
import { intentDigest, signIntent } from "../../../src/trust/intent.ts";
import * as trust from "../trust.ts";
import type { ArtifactServer } from "./artifact-server.ts";
import { fakeProcesses, fakeRuntime } from "./fake-runtime.ts";
import { machine } from "./machine.ts";
import { until } from "./until.ts";

export interface Launch {
  readonly version: string;
  readonly direction?: "forward" | "reverse";
  readonly attempt?: number;
  /** Of an earlier launch: the same rollout tries again or goes back. */
  readonly of?: Launched;
}

export interface Launched {
  readonly rolloutId: RolloutId;
  readonly intent: Buffer;
  readonly commandId: string;
  /** `accepted`, `repeated`, or the code of the refusal. */
  readonly received: string;
}

export const OPEN_GATE = {
  ask: () => ({ kind: "open" }) as const,
  passGate: () => ({ kind: "open" }) as const,
  situation: () => ({ contact: true, headFresh: true }) as Situation,
} satisfies GateKeeper;

export type CommandedMachine = Awaited<ReturnType<typeof commandedMachine>>;

export async function commandedMachine(options: { readonly server?: ArtifactServer } = {}) {
  const processes = fakeProcesses();
  const m = await machine(({ program, fs }) => fakeRuntime(processes, program, fs), options);
  await m.provision("1.0.0");
  m.server.put("/healthz", "ok");
  const keys = trust.newKeys();
  const identity = { ...identityOf(keys) };
  const world = {
    now: trust.NOW,
    /** The control plane answers. */
    there: true,
    keeper: OPEN_GATE as GateKeeper,
    intentMs: 24 * trust.HOUR_MS,
    assignmentMs: 24 * trust.HOUR_MS,
  };
  const clock = { now: () => world.now, monotonic: () => world.now - trust.NOW };
  const delivered: UpgradeReport[] = [];
  const counters = { sequence: 0, version: 0, serial: 10 };
  /** As the server's rows have it. */
  const row = { version: "1.0.0", verdicts: new Map<string, string[]>() };
  const versions = new Map<string, string>();
  const link = {
    report: async ({ reports }: { reports: UpgradeReport[] }) => {
      if (!world.there) throw new Error("nobody answers");
      for (const report of reports) hear(report);
      return null;
    },
  } as Partial<Link> as Link;

  function hear({ report_id, command_id, body }: UpgradeReport): void {
    if (
      delivered.some((each) => each.report_id === report_id) ||
      body.kind === "progress" ||
      body.kind === "waiting"
    )
      return;
    delivered.push({ report_id, command_id, body } as UpgradeReport);
    const said = body.kind === "verdict" ? body.verdict : body.rejection.code;
    row.verdicts.set(command_id, [...(row.verdicts.get(command_id) ?? []), said]);
    if (said === "COMPLETED") row.version = versions.get(command_id)!;
  }

  async function boot(fs: FileSystemPort = nodeFileSystem) {
    const leaving = new AbortController();
    const adapter = m.adapter(fs);
    const program = { ...m.program, health: { url: `${m.server.origin}/healthz` } };
    const programs = {
      all: () => [trust.PROFILE],
      has: () => true,
      config: () => program,
      adapter: () => adapter,
      measure: () => adapter.measure(),
    } as unknown as Programs;
    const snapshots = await openSnapshotStore(m.root, identity, clock);
    const ledger = await openLedger(m.root, fs);
    const contact = createContact(clock);
    contact.settle();
    const heartbeat = async () => ({}) as never;
    const outbox = await openOutbox({
      folder: m.root,
      link: () => link,
      heartbeat,
      clock,
      log: silentLogger,
      fs,
    });
    const keeper: GateKeeper = {
      ask: (...asked) => world.keeper.ask(...asked),
      passGate: (...asked) => world.keeper.passGate(...asked),
      situation: () => world.keeper.situation(),
    };
    const deps = { identity, snapshots, ledger, programs, stateDir: m.stateDir };
    const runner = createRunner({
      ...deps,
      authorizeAgain: createAuthorizeAgain(deps),
      outbox,
      keeper,
      contact,
      clock,
      log: silentLogger,
      fs,
      link: () => link,
      busy: () => undefined,
      beat: () => undefined,
    });
    const sending = outbox.run(leaving.signal);
    const told = async (): Promise<void> => {
      if (world.there) await until("reports are delivered", () => outbox.waiting() === 0);
    };
    return {
      told,
      snapshots,
      ledger,
      receive: (delivery: Parameters<typeof receiveCommand>[1]) =>
        receiveCommand({ ...deps, keeper, clock }, delivery),
      cancel: (frame: Uint8Array) => receiveVoidIntent(deps, frame),
      runner,
      signal: leaving.signal,
      async stop(): Promise<void> {
        if (leaving.signal.aborted) return;
        await runner.idle();
        await told();
        leaving.abort();
        await sending;
      },
    };
  }
  let agent = await boot();
  await agent.snapshots.apply(trust.bundleFrame(keys));

  /** As the server would: intent, assignment and command agree, and `current` is what its row says. */
  async function launch({ version, direction = "forward", attempt = 1, of }: Launch): Promise<Launched> {
    const target = fingerprintOf(version);
    m.server.put(`/${target}`, helloProgram(version));
    const rollout_id = of?.rolloutId ?? RolloutId.parse(randomUUID());
    const intent =
      of?.intent ??
      signIntent(
        trust.intentOf({
          rollout_id,
          fingerprint: target,
          serial: ++counters.serial,
          nodes_root: TREE.root,
          not_after: trust.at(world.now + world.intentMs),
        }),
        keys.release,
      );
    const intent_digest = intentDigest(intent);
    const config_version = ++counters.version;
    const assignments = [
      trust.upgrading({ rollout_id, intent_digest, target, current: fingerprintOf(row.version) }),
    ];
    await agent.snapshots.apply(
      trust.assignmentFrame(keys, {
        header: {
          config_version,
          issued_at: trust.at(world.now),
          valid_from: trust.at(world.now),
          expires_at: trust.at(world.now + world.assignmentMs),
          refresh_after: trust.at(world.now),
        },
        content: { assignments },
      }),
    );
    const draft = trust.commandOf({
      sequence: ++counters.sequence,
      rollout_id,
      intent_digest,
      direction,
      attempt,
      fingerprint: target,
      assignment_config_version: config_version,
      issued_at: trust.at(world.now),
      expires_at: trust.at(world.now + trust.HOUR_MS / 4),
    });
    versions.set(draft.command_id, version);
    const payload = trust.payloadOf({
      artifact: { name: "hello", version, fingerprint: target, url: urlOf(target) },
      configs: [],
    });
    const command = signCommand(draft, payload, keys.online);
    const received = await agent.receive({
      command: command.toString("base64"),
      intent: intent.toString("base64"),
      proof: TREE.proof(trust.NODE),
    });
    if (received.kind === "accepted") agent.runner.start(received.pending, agent.signal);
    const how = received.kind === "refused" ? received.rejection.code : received.kind;
    return { rolloutId: rollout_id, intent, commandId: draft.command_id, received: how };
  }

  /** Until nothing is under way and every report has reached the control plane, if it is there. */
  async function idle(): Promise<void> {
    await agent.runner.idle();
    await agent.told();
  }

  const urlOf = (target: Digest) => `${m.server.origin}/${target}`;

  return {
    m,
    keys,
    processes,
    world,
    row,
    launch,
    agent: () => agent,
    /** Until the queue is empty. */
    idle,
    /** The version that runs; null when none does. */
    running: (): string | null =>
      ["1.0.0", "2.0.0", "3.0.0"].find((v) => fingerprintOf(v) === processes.running?.fingerprint) ?? null,
    installed: async (): Promise<string | undefined> => {
      const found = await m.installed();
      return ["1.0.0", "2.0.0", "3.0.0"].find((version) => fingerprintOf(version) === found);
    },
    said: (verdict: string): boolean => [...row.verdicts.values()].flat().includes(verdict),
    intentLivesFor: (ms: number) => void (world.intentMs = ms),
    assignmentLivesFor: (ms: number) => void (world.assignmentMs = ms),
    /** The code of the newest verdict or refusal that was delivered. */
    lastError: (): string | null => {
      const body = delivered.at(-1)?.body;
      if (body?.kind === "verdict") return body.error_code;
      return body?.kind === "refused" ? body.rejection.code : null;
    },
    /** A higher serial that authorises nothing. */
    cancelFrame: (): Buffer =>
      signIntent(
        trust.intentOf({
          serial: ++counters.serial,
          fingerprint: null,
          run_digest: null,
          nodes_root: null,
        }),
        keys.release,
      ),
    /** The agent's process ends and another one starts on the same disk; programs go on, unless the machine reboots. */
    async restart({ fs, reboot = false }: { fs?: FileSystemPort; reboot?: boolean } = {}): Promise<void> {
      await agent.stop();
      if (reboot) processes.running = null;
      agent = await boot(fs);
      agent.runner.resume(agent.signal);
      await idle();
    },
    /** Without running what is pending. */
    async replaceDisk(fs: FileSystemPort): Promise<void> {
      await agent.stop();
      agent = await boot(fs);
    },
    async close(): Promise<void> {
      await agent.stop();
      await m.close();
    },
  };
}

const TREE = trust.treeOf([]);
const fingerprintOf = (version: string): Digest => digestOf(helloProgram(version));

const identityOf = (keys: trust.Keys): Identity => ({
  node_id: trust.NODE,
  cluster_id: trust.CLUSTER,
  agent_url: "https://control.example:7401",
  roles: ["egress_service"],
  token_digest: trust.fingerprint("enrollment token"),
  root: trust.bundleOf(keys).root,
  ca: "",
  private_key: "",
  certificate_chain: "",
});
