/**
 * Who this machine is: enrolled once, and again when its operator puts another token in place.
 * A machine that was revoked comes back that way, under a new identity that knows nothing of the old one's commands.
 */
import { FairleadError } from "../../core/errors.ts";
import type { Clock } from "../../host/clock.ts";
import { readBoundedIfThere } from "../../host/files.ts";
import type { Logger } from "../../host/log.ts";
import type { AgentConfig } from "../config.ts";
import { enroll, forgetPendingKey, tokenDigest, type Enrolled } from "./enroll.ts";
import { readIdentity, writeIdentity, type Identity } from "./store.ts";

const TOKEN_BYTES_MAX = 4096;

export interface Identified {
  readonly identity: Identity;
  /** Null when the machine was enrolled before. */
  readonly firstBundle: Buffer | null;
}

export async function identify(config: AgentConfig, clock: Clock, log: Logger): Promise<Identified> {
  const { data_dir: dataDir, token_file: tokenFile, enroll_url: enrollUrl } = config;
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
  const { identity, trustBundle }: Enrolled = await enroll(enrollUrl, token, dataDir, clock);
  await writeIdentity(dataDir, identity);
  await forgetPendingKey(dataDir, token);
  log.info("enrolled", { node_id: identity.node_id });
  return { identity, firstBundle: trustBundle };
}
