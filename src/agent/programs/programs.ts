/** The programs that the local config names, each with its adapter, and what they look like right now. */
import { lstat } from "node:fs/promises";
import type { Digest, ProfileId } from "../../core/ids.ts";
import type { ProgramReport } from "../../core/protocol/agent-api.ts";
import type { RuntimeAdapter } from "../upgrade/port.ts";
import { readActivation } from "../upgrade/activations.ts";
import type { ProgramConfig, ProgramsConfig } from "./config.ts";
import { measureInstalled } from "./measure.ts";
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
): Programs {
  const entries = new Map(
    Object.entries(configs).map(([profile, config]) => {
      const id = profile as ProfileId;
      return [id, { config, adapter: adapterFor(id, config) }] as const;
    }),
  );
  const installed = createInstalledCache();

  async function reportOne(profile: ProfileId): Promise<ProgramReport> {
    const { config, adapter } = entries.get(profile)!;
    const [health, supervision, fingerprint, record] = await Promise.all([
      probe(config.health),
      adapter.supervision(),
      installed(config),
      readActivation(stateDir, profile),
    ]);
    const { running } = supervision;
    return {
      chain_profile_id: profile,
      ...health,
      running_fingerprint: running?.fingerprint ?? null,
      installed_fingerprint: fingerprint,
      version: record === null ? config.version : record.current.version,
      instance_id: running?.instance_id ?? null,
      started_at: running?.started_at ?? null,
      restarts: supervision.restarts,
    };
  }

  return {
    has: (profile) => entries.has(profile),
    all: () => [...entries.keys()],
    config: (profile) => entries.get(profile)!.config,
    adapter: (profile) => entries.get(profile)!.adapter,
    measure: async (profile) =>
      entries.has(profile) ? measureInstalled(entries.get(profile)!.config) : null,
    report: () => Promise.all([...entries.keys()].map(reportOne)),
  };
}

/** Hashing a large file for every heartbeat would cost more than the agent may: hashed again when the file changed. */
function createInstalledCache(): (config: ProgramConfig) => Promise<Digest | null> {
  const seen = new Map<string, { stamp: string; digest: Digest | null }>();
  return async (config) => {
    const stamp = await stampOf(config.install_path);
    const before = seen.get(config.install_path);
    if (before?.stamp === stamp) return before.digest;
    const digest = await measureInstalled(config);
    seen.set(config.install_path, { stamp, digest });
    return digest;
  };
}

async function stampOf(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await lstat(path, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(".");
  } catch {
    return "absent";
  }
}
