/**
 * Decisions of a simulated agent about commands and time, by the product's own code: src/agent/authority/authorize.ts and
 * src/trust/node-time.ts. The site requires no intents: what remains is sequence, lifetime, assignment and installed bytes.
 */
import { authorize, type Situation } from "../../src/agent/authority/authorize.ts";
import { FairleadError } from "../../src/core/errors.ts";
import { ClusterId, Digest, KeyId, ProfileId, Version } from "../../src/core/ids.ts";
import { LIMITS } from "../../src/core/limits.ts";
import { COMMAND_TYPE_UPGRADE } from "../../src/core/protocol/command.ts";
import type { VerifiedCommand } from "../../src/trust/command.ts";
import { isTooFarAhead, timeWindow } from "../../src/trust/node-time.ts";
import type { TimeWindow } from "../../src/trust/trusted-keys.ts";
import type { Command } from "../support/rollouts/rollout-table.ts";
import { uuid } from "../support/rollouts/created-rows.ts";
import { holds } from "./violation.ts";

const CLUSTER = ClusterId.parse(uuid(9, 1));
const PROFILE = ProfileId.parse("program");
const KEY = KeyId.parse("a".repeat(64));
const VERSION = Version.parse("1.0.0");
/** Bytes that no release has. */
export const BROKEN = Digest.parse(`sha256:${"b".repeat(64)}`);

/** A command as it is signed: each node has one sequence. */
export type Sent = Command & { readonly sequence: number };

const iso = (ms: number): string => new Date(ms).toISOString();

export interface AgentTime {
  window(now: number): TimeWindow;
  /** The machine's own clock. */
  clock(now: number): number;
  /** The agent's clock shows 1970, or the right time again. */
  setUnset(isUnset: boolean): void;
  /** A head that was signed with this time. */
  takeHead(issuedAt: number, now: number): "taken" | "ahead" | "older";
  isHeadFresh(now: number): boolean;
  raiseFloor(issuedAt: number, now: number): void;
  /** A root-signed bundle of a new epoch with the reason `time_reset`. */
  reset(issuedAt: number): void;
}

/** `bounded: false` keeps whatever time a frame has. For the test that shows that this is noticed. */
export function createAgentTime({
  bounded = true,
}: { readonly bounded?: boolean | undefined } = {}): AgentTime {
  let floor: number | null = null;
  let head: number | null = null;
  let isUnset = false;
  const clock = (now: number): number => (isUnset ? now - LIMITS.clockUnsetBeforeMs : now);
  const window = (now: number): TimeWindow => timeWindow(clock(now), floor);

  function raiseFloor(issuedAt: number, now: number): void {
    const { effective: before, clockless = false } = window(now);
    floor = Math.max(floor ?? 0, issuedAt);
    const isInBound = clockless || floor <= before + LIMITS.issuedAheadMaxMs;
    holds(isInBound, "one signed frame moves a node's time by a bounded amount", `${floor - before} ms`);
  }

  return {
    window,
    clock,
    setUnset: (unset) => void (isUnset = unset),
    takeHead(issuedAt, now) {
      if (bounded && isTooFarAhead(iso(issuedAt), window(now), { tellsTime: true })) return "ahead";
      if (head !== null && issuedAt < head) return "older";
      head = issuedAt;
      raiseFloor(issuedAt, now);
      return "taken";
    },
    isHeadFresh: (now) => head === null || head + LIMITS.headLifetimeMs > window(now).effective,
    raiseFloor,
    reset(issuedAt) {
      floor = issuedAt;
      head = issuedAt;
    },
  };
}

export interface AgentFacts {
  readonly time: TimeWindow;
  readonly mark: number;
  /** Its assignment is the one that the node holds. */
  readonly newest: Sent;
  readonly installed: Digest | null;
  /** Where the last rollout that completed here came from. */
  readonly previous: { readonly rolloutId: string; readonly installed: Digest | null } | null;
}

/** The code of the check that the command fails; null when its job may begin. */
export function refusalBy(command: Sent, facts: AgentFacts): string | null {
  try {
    authorize(signed(command), situation(command, facts));
    return null;
  } catch (error) {
    if (error instanceof FairleadError) return error.code;
    throw error;
  }
}

const RUN = { args: [], env: {}, user: null };

function signed({
  commandId,
  nodeId,
  rolloutId,
  sequence,
  direction,
  attempt,
  at,
  to,
}: Sent): VerifiedCommand {
  return {
    header: {
      command_id: commandId,
      command_type: COMMAND_TYPE_UPGRADE,
      cluster_id: CLUSTER,
      subject_node_id: nodeId,
      sequence,
      rollout_id: rolloutId,
      chain_profile_id: PROFILE,
      intent_digest: null,
      direction,
      attempt,
      assignment_config_version: sequence,
      fingerprint: to,
      issued_at: iso(at),
      expires_at: iso(at + LIMITS.commandLifetimeMs),
      signer_key_id: KEY,
      content_hash: to,
    },
    payload: {
      upgrade_id: null,
      artifact: { name: "program", version: VERSION, fingerprint: to, url: "https://artifacts.test/program" },
      run: RUN,
      configs: [],
    },
  };
}

function situation(command: Sent, facts: AgentFacts): Situation {
  const { newest, previous, ...known } = facts;
  const assignment = {
    kind: "upgrading",
    chain_profile_id: PROFILE,
    rollout_id: newest.rolloutId,
    intent_digest: null,
    current: newest.from,
    target: newest.to,
  };
  return {
    ...known,
    nodeId: command.nodeId,
    clusterId: CLUSTER,
    bundle: { intents_required: false },
    knowsProfile: true,
    assignment: {
      header: { expires_at: iso(facts.time.effective + 1), config_version: newest.sequence },
      content: { assignments: [assignment] },
    },
    intent: null,
    proof: [],
    ledger: { serial: 0, intent_digest: null, ran: [] },
    activation: previous && {
      key: "",
      current: { rollout_id: previous.rolloutId },
      previous: previous.installed && { fingerprint: previous.installed },
    },
  } as unknown as Situation;
}
