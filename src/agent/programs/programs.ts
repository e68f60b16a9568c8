/** The programs that the local config names, each with its adapter, and what they look like right now. */
import type { Digest, ProfileId } from "../../core/ids.ts";
import { INSTANCE_ID_CHARS_MAX, RESTARTS_MAX, type ProgramReport } from "../../core/protocol/agent-api.ts";
import { storableText } from "../../core/text.ts";
import type { Logger } from "../../host/log.ts";
import type { RuntimeAdapter, Supervision } from "../upgrade/port.ts";
import { readActivation } from "../upgrade/activations.ts";
import { readStartedAlone } from "../upgrade/started-alone.ts";
import type { ProgramConfig, ProgramsConfig } from "./config.ts";
import { probe } from "./probe.ts";

export interface Programs {
  has(profile: ProfileId): boolean;
  all(): readonly ProfileId[];
  config(profile: ProfileId): ProgramConfig;
  adapter(profile: ProfileId): RuntimeAdapter;
  measure(profile: ProfileId): Promise<Digest | null>;
  report(): Promise<ProgramReport[]>;
}

export function createPrograms(
  configs: ProgramsConfig,
  stateDir: string,
  adapterFor: (profile: ProfileId, config: ProgramConfig) => RuntimeAdapter,
  log: Pick<Logger, "error">,
): Programs {
  const entries = new Map(
    Object.entries(configs).map(([profile, config]) => {
      const id = profile as ProfileId;
      return [id, { config, adapter: adapterFor(id, config) }] as const;
    }),
  );
  const installed = createInstalledCache();

  /** A runtime that does not answer is told as a program that is not seen: the heartbeat comes all the same. */
  async function told<T>(profile: ProfileId, what: string, asked: Promise<T>, unknown: T): Promise<T> {
    try {
      return await asked;
    } catch (error) {
      log.error("runtime not answering", { profile, what, error });
      return unknown;
    }
  }

  async function reportOne(profile: ProfileId): Promise<ProgramReport> {
    const { config, adapter } = entries.get(profile)!;
    const [health, supervision, fingerprint, record, alone] = await Promise.all([
      probe(config.health),
      told(profile, "what runs", adapter.supervision(), UNSEEN),
      told(profile, "what is installed", installed(profile, adapter), null),
      readActivation(stateDir, profile),
      readStartedAlone(stateDir, profile),
    ]);
    const { running } = supervision;
    return {
      chain_profile_id: profile,
      ...health,
      running_fingerprint: running?.fingerprint ?? null,
      installed_fingerprint: fingerprint,
      version: record === null ? config.version : record.current.version,
      instance_id: running === null ? null : storableText(running.instance_id, INSTANCE_ID_CHARS_MAX),
      started_at: running?.started_at ?? null,
      restarts: Math.min(supervision.restarts, RESTARTS_MAX),
      ...(alone === undefined || running === null ? {} : { started_alone: alone }),
    };
  }

  return {
    has: (profile) => entries.has(profile),
    all: () => [...entries.keys()],
    config: (profile) => entries.get(profile)!.config,
    adapter: (profile) => entries.get(profile)!.adapter,
    measure: async (profile) => (entries.has(profile) ? entries.get(profile)!.adapter.measure() : null),
    report: () => Promise.all([...entries.keys()].map(reportOne)),
  };
}

const UNSEEN: Supervision = { running: null, restarts: 0, restarted_at: [], last_exit: null };

/** Hashing a large file for every heartbeat would cost more than the agent may: hashed again when it changed. */
function createInstalledCache() {
  const seen = new Map<ProfileId, { stamp: string; digest: Digest | null }>();
  return async (profile: ProfileId, adapter: RuntimeAdapter): Promise<Digest | null> => {
    const stamp = await adapter.installedStamp();
    const before = seen.get(profile);
    if (before?.stamp === stamp) return before.digest;
    const digest = await adapter.measure();
    seen.set(profile, { stamp, digest });
    return digest;
  };
}
