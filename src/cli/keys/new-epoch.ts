/** A bundle that opens a new epoch: above everything that the server, the nodes or this machine have seen (SNAP-11). */
import type { Recovery } from "../../core/snapshot/trust-bundle.ts";
import type { Call, Result } from "../call.ts";
import type { Session } from "../session.ts";
import { changeBundle, openNewest, type ChangeOptions } from "./change.ts";

export interface NewEpoch {
  readonly options: ChangeOptions;
  readonly reason: Recovery["reason"];
  /** Kept in the timeline. */
  readonly note: string;
}

export async function openEpoch(
  call: Call,
  session: Session,
  { options, reason, note }: NewEpoch,
): Promise<Result> {
  const newest = await openNewest(call, session);
  const { header } = newest.bundle;
  const { epoch: reportedEpoch, version: reportedVersion } = newest.server.newest_reported ?? NOTHING;
  const epoch = above(Math.max(header.authority_epoch, newest.server.epoch), reportedEpoch);
  const version = above(Math.max(header.config_version, newest.server.version), reportedVersion);
  // Nodes may stand in any epoch up to the newest known: the oldest of them must find its way too.
  const recovery = {
    from_epoch: Math.min(header.authority_epoch, newest.server.epoch),
    reason,
    opened_at: new Date(call.io.now()).toISOString(),
  };
  return changeBundle(call, session, {
    options,
    newest,
    changes: [{ kind: "epoch", recovery }],
    at: { epoch, version },
    reason: note,
    data: { recovery },
    next: "fairlead keys list, until every node has confirmed the bundle",
  });
}

const NOTHING = { epoch: 0, version: 0 };

/** A node may say what it likes: a number far beyond what anybody signed is no reason to go there. */
const REPORTED_AHEAD_MAX = 1_000;

const above = (known: number, reported: number): number =>
  1 + (reported - known > REPORTED_AHEAD_MAX ? known : Math.max(known, reported));
