/** The node's twelve checks on the operator's machine, with the same code and without a server (SNAP-7). */
import { z } from "zod";
import { ERROR_CODES } from "../../core/error-codes.ts";
import { exitCodeOf, FairleadError } from "../../core/errors.ts";
import { ClusterId, Instant, NodeId, Uuid } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { CHECK_NAMES } from "../../core/model/checks.ts";
import { SnapshotHeader } from "../../core/snapshot/envelope.ts";
import { NodeRole } from "../../core/snapshot/scopes.ts";
import { decodeFrame } from "../../trust/frame.ts";
import { verifyStored } from "../../trust/increment.ts";
import { parseCanonical } from "../../trust/strict-json.ts";
import type { SnapshotRejection } from "../../trust/verify-snapshot.ts";
import type { Call, Result } from "../call.ts";
import { readNamedFile } from "../operator-files.ts";
import { optionsOf, Words } from "../options.ts";
import { printable } from "../output.ts";
import { openBundle } from "../snapshot/bundle-file.ts";

const Options = z.object({
  bundle: z.string(),
  node: NodeId,
  cluster: ClusterId.optional(),
  roles: Words.pipe(z.array(NodeRole)).optional(),
  organizations: Words.pipe(z.array(Uuid)).optional(),
  at: Instant.optional(),
});
const FRAME_BYTES_MAX = LIMITS.snapshotHeaderBytesMax + LIMITS.snapshotContentBytesMax + 64 * 1024;

export async function run(call: Call): Promise<Result> {
  const options = optionsOf(Options, call.options);
  const now = options.at === undefined ? call.io.now() : Date.parse(options.at);
  const bytes = await readNamedFile("the snapshot", call.args[0]!, FRAME_BYTES_MAX);
  const bundle = openBundle(await readNamedFile("--bundle", options.bundle, FRAME_BYTES_MAX));
  const claimed = claimsOf(bytes);
  const verdict = verifyStored(bytes, {
    clusterId: options.cluster ?? bundle.header.cluster_id,
    nodeId: options.node,
    roles: options.roles ?? claimed?.roles ?? [],
    organizationIds: options.organizations ?? claimed?.organization_ids ?? [],
    root: bundle.content.root,
    bundle: bundle.content,
    epoch: bundle.header.authority_epoch,
    accepted: () => null,
    time: { local: now, effective: now },
  });
  const notes =
    options.roles === undefined
      ? "roles and organizations were taken from the header: name them to check them"
      : undefined;
  if (verdict.kind === "accepted") {
    const { header } = verdict;
    const accepted = `accepted: ${header.scope_type} version ${header.config_version} (epoch ${header.authority_epoch}), until ${header.expires_at}`;
    const data = { kind: "accepted", header, checks: checksOf(null) };
    return { data, text: [...linesOf(null), accepted].join("\n"), ...(notes === undefined ? {} : { notes }) };
  }
  const { step, code, field, reason } = verdict;
  const remedy = ERROR_CODES[code].next;
  return {
    data: { kind: "rejected", step, code, field, reason, remedy, checks: checksOf(verdict) },
    text: [...linesOf(verdict), `rejected: ${code}`, `what to do: ${remedy}`].join("\n"),
    exit: exitCodeOf("SNAPSHOT_SIGNATURE_INVALID"),
  };
}

/** No more than claims: check 10 compares them with what the node is. */
function claimsOf(bytes: Buffer): { roles: NodeRole[]; organization_ids: string[] } | null {
  try {
    const header = SnapshotHeader.loose().safeParse(parseCanonical(decodeFrame(bytes).header));
    return header.success ? header.data : null;
  } catch (error) {
    if (error instanceof FairleadError) return null; // the first check says what is wrong
    throw error;
  }
}

type Outcome = "ok" | "failed" | "not reached";

const outcomeOf = (step: number, rejection: SnapshotRejection | null): Outcome => {
  if (rejection === null || step < rejection.step) return "ok";
  return step === rejection.step ? "failed" : "not reached";
};

const checksOf = (rejection: SnapshotRejection | null) =>
  CHECK_NAMES.map((name, at) => ({ step: at + 1, name, outcome: outcomeOf(at + 1, rejection) }));

const linesOf = (rejection: SnapshotRejection | null): string[] =>
  checksOf(rejection).map(({ step, name, outcome }) => {
    const why = outcome === "failed" ? `: ${rejection!.field}: ${rejection!.reason}` : "";
    return printable(`${String(step).padStart(2)}  ${outcome.padEnd(11)}  ${name}${why}`);
  });
