/**
 * Who this machine is: enrolled once, and again when its operator puts another token in place.
 * A machine that was revoked comes back that way, under a new identity that knows nothing of the old one's commands.
 */
import { FairleadError } from "../../core/errors.ts";
import { sleep, type Clock } from "../../host/clock.ts";
import { readBoundedIfThere } from "../../host/files.ts";
import type { Logger } from "../../host/log.ts";
import type { AgentConfig } from "../config.ts";
import { enroll, forgetPendingKey, tokenDigest, type Enrolled } from "./enroll.ts";
import { readIdentity, writeIdentity, type Identity } from "./store.ts";

const TOKEN_BYTES_MAX = 4096;
const APPROVAL_WAIT_MS_MIN = 1_000;
const APPROVAL_WAIT_MS_MAX = 30_000;

export interface Identified {
  readonly identity: Identity;
  /** Null when the machine was enrolled before. */
  readonly firstBundle: Buffer | null;
}

/** Null when the agent is stopped while it waits for an approval. */
export async function identify(
  config: AgentConfig,
  clock: Clock,
  log: Logger,
  signal: AbortSignal,
): Promise<Identified | null> {
  const { data_dir: dataDir, token_file: tokenFile, enroll_url: enrollUrl, node_name: nodeName } = config;
  const kept = await readIdentity(dataDir);
  const bytes = tokenFile === undefined ? undefined : await readBoundedIfThere(tokenFile, TOKEN_BYTES_MAX);
  const token = bytes?.toString("utf8");
  if (kept !== undefined && (token === undefined || tokenDigest(token) === kept.token_digest)) {
    return { identity: kept, firstBundle: null };
  }
  if (token === undefined) {
    const where = tokenFile === undefined ? "its config names no token_file" : `${tokenFile} is not there`;
    throw new FairleadError("ENROLLMENT_REFUSED", `this node is not enrolled and ${where}`);
  }
  const answer = await enrolled(() => enroll({ enrollUrl, token, dataDir, nodeName }, clock), log, signal);
  if (answer === null) return null;
  const { identity, trustBundle } = answer;
  await writeIdentity(dataDir, identity);
  await forgetPendingKey(dataDir, token);
  log.info("enrolled", { node_id: identity.node_id });
  return { identity, firstBundle: trustBundle };
}

/** Asks until an operator has approved the node. */
async function enrolled(
  ask: () => Promise<Enrolled>,
  log: Logger,
  signal: AbortSignal,
): Promise<Extract<Enrolled, { kind: "enrolled" }> | null> {
  for (let waitMs = APPROVAL_WAIT_MS_MIN; ; waitMs = Math.min(waitMs * 2, APPROVAL_WAIT_MS_MAX)) {
    const answer = await ask();
    if (answer.kind === "enrolled") return answer;
    log.warn("enrollment waits for approval", {
      node: answer.name,
      key_id: answer.keyId,
      next: `fairlead node approve ${answer.name}`,
    });
    if ((await sleep(waitMs, signal)) === "aborted") return null;
  }
}
