/**
 * `fairlead agent --status`: what this node holds and may do by itself, asked on the machine and answered without any
 * control plane. It looks at a copy: the agent that runs beside it is not disturbed.
 */
import { access, cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ACTIONS, type Action } from "../core/degraded/actions.ts";
import type { Gate } from "../core/degraded/gate.ts";
import { startedAloneText } from "../core/degraded/started-alone-text.ts";
import { FairleadError } from "../core/errors.ts";
import type { ProfileId } from "../core/ids.ts";
import type { Rejection, StartedAlone } from "../core/protocol/agent-api.ts";
import type { SnapshotVersion } from "../core/snapshot/envelope.ts";
import type { Clock } from "../host/clock.ts";
import { isMissing } from "../host/file-errors.ts";
import type { AgentConfig } from "./config.ts";
import { createContact } from "./degraded/contact.ts";
import { createGateKeeper } from "./degraded/gate-keeper.ts";
import { folderOf, readIdentity } from "./identity/store.ts";
import { stateDirOf } from "./programs/open.ts";
import { openSnapshotStore, type SnapshotStore } from "./snapshots/store.ts";
import { readStartedAlone } from "./upgrade/started-alone.ts";

export interface NodeStatus {
  readonly node_id: string;
  readonly cluster_id: string;
  /** The time that expiry is compared with: it never goes back. */
  readonly effective_time: string;
  readonly head: { readonly issued_at: string; readonly fresh: boolean } | null;
  readonly scopes: readonly (SnapshotVersion & { readonly scope: string })[];
  /** What the gate answers while nobody else does. */
  readonly alone: readonly ({ readonly action: Action } & Gate)[];
  /** Programs that run since a start without the control plane. */
  readonly started_alone: readonly ({ readonly profile: string } & StartedAlone)[];
  readonly rejections: readonly Rejection[];
}

export async function readStatus(config: AgentConfig, clock: Clock): Promise<NodeStatus> {
  const { data_dir } = config;
  const identity = await readIdentity(data_dir);
  if (identity === undefined) throw new FairleadError("NOT_READY", "this machine is not enrolled yet");
  const copy = await mkdtemp(join(tmpdir(), "fairlead-status-"));
  try {
    await copyFolder(join(folderOf(data_dir, identity), "snapshots"), join(copy, "snapshots"));
    const store = await openSnapshotStore(copy, identity, clock);
    const started_alone = await startedAlone(config);
    return {
      node_id: identity.node_id,
      cluster_id: identity.cluster_id,
      ...statusOf(store, clock),
      started_alone,
    };
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

async function startedAlone(config: AgentConfig): Promise<NodeStatus["started_alone"]> {
  const profiles = Object.keys(config.programs) as ProfileId[];
  const read = profiles.map(async (profile) => {
    const alone = await readStartedAlone(stateDirOf(config), profile);
    return alone === undefined ? [] : [{ profile, ...alone }];
  });
  return (await Promise.all(read)).flat();
}

const COPIES_MAX = 5;

/** The agent may replace a file while it is copied: then the copy begins anew. */
async function copyFolder(from: string, to: string): Promise<void> {
  for (let copies = 1; ; copies += 1) {
    try {
      await cp(from, to, { recursive: true });
      return;
    } catch (error) {
      if (!isMissing(error)) throw error;
      if (!(await isThere(from))) return; // nothing was ever accepted
      if (copies === COPIES_MAX) throw error;
      await rm(to, { recursive: true, force: true });
    }
  }
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    (error: unknown) => {
      if (isMissing(error)) return false;
      throw error;
    },
  );

function statusOf(
  store: SnapshotStore,
  clock: Clock,
): Omit<NodeStatus, "node_id" | "cluster_id" | "started_alone"> {
  const keeper = createGateKeeper(store, createContact(clock));
  const issuedAt = store.headIssuedAt();
  return {
    effective_time: new Date(store.time().effective).toISOString(),
    head: issuedAt === null ? null : { issued_at: issuedAt, fresh: store.isHeadFresh() },
    scopes: Object.entries(store.versions()).map(([scope, version]) => ({ scope, ...version })),
    alone: (Object.keys(ACTIONS) as Action[]).map((action) => ({ action, ...keeper.ask(action) })),
    rejections: store.rejections(),
  };
}

export function statusText(status: NodeStatus): string {
  const { head } = status;
  const lines = [
    `node            ${status.node_id}`,
    `cluster         ${status.cluster_id}`,
    `effective time  ${status.effective_time}`,
    `head            ${head === null ? "none" : `${head.issued_at}, ${head.fresh ? "fresh" : "stale"}`}`,
    "",
    "holds",
    ...status.scopes.map(
      ({ scope, epoch, version }) => `  ${scope.padEnd(22)}epoch ${epoch}, version ${version}`,
    ),
    ...(status.scopes.length === 0 ? ["  nothing"] : []),
    "",
    "while nobody answers",
    ...status.alone.map((each) => `  ${each.action.padEnd(28)}${verdict(each)}`),
    ...(status.started_alone.length === 0 ? [] : ["", "on its own"]),
    ...status.started_alone.map(
      (each) => `  ${each.profile.padEnd(28)}${each.at}  ${startedAloneText(each)}`,
    ),
  ];
  const refused = status.rejections.map(
    ({ at, code, subject, reason }) => `  ${at}  ${code}  ${subject}: ${reason}`,
  );
  return [...lines, ...(refused.length === 0 ? [] : ["", "refused", ...refused]), ""].join("\n");
}

const verdict = (gate: Gate): string =>
  gate.kind === "open"
    ? gate.expiredSince === undefined
      ? "open"
      : `open, on authority that expired at ${new Date(gate.expiredSince).toISOString()}`
    : `closed  ${gate.code}: ${gate.reason}`;
