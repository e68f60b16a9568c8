/** The `docker` runtime: a container in an engine, named by the local config, of images pinned by digest (ROLL-8). */
import { join } from "node:path";
import type { ProfileId } from "../../../../core/ids.ts";
import type { Clock } from "../../../../host/clock.ts";
import { type FileSystemPort, nodeFileSystem } from "../../../../host/file-system-port.ts";
import type { Logger } from "../../../../host/log.ts";
import type { DockerProgram } from "../../../programs/config.ts";
import type { RuntimeAdapter } from "../../port.ts";
import { configFiles } from "../files/config-files.ts";
import { inspect, isOn } from "./containers.ts";
import { type Engine, openEngine } from "./engine.ts";
import { findImage, fingerprintOf } from "./images.ts";
import { install, isInstalled, verifiedImage } from "./install.ts";
import { start, stop } from "./lifecycle.ts";
import { noteBook, withOne } from "./notes.ts";
import { observe } from "./observe.ts";
import { patience } from "./patience.ts";
import { prune } from "./prune.ts";
import { pullImage } from "./pull.ts";
import { allowedReference, pinned } from "./reference.ts";
import { registryAuth } from "./registry-auth.ts";
import { restarts } from "./restart-policy.ts";
import { restore } from "./restore.ts";
import { containerBackup } from "./saved.ts";

export interface DockerAdapterDeps {
  readonly profile: ProfileId;
  readonly program: DockerProgram;
  readonly stateDir: string;
  readonly clock: Clock;
  readonly log?: Pick<Logger, "warn"> | undefined;
  readonly fs?: FileSystemPort;
  readonly engine?: Engine;
  readonly settleMs?: number;
  readonly engineWaitMs?: number;
}

export function dockerAdapter(given: DockerAdapterDeps): RuntimeAdapter {
  const {
    profile,
    program,
    stateDir,
    clock,
    fs = nodeFileSystem,
    engine = openEngine(program.engine_socket),
  } = given;
  const folder = join(stateDir, "programs", profile);
  const notes = noteBook(folder, fs);
  const deps = { ...given, fs, engine, folder, notes };
  const saved = containerBackup(deps);
  const patiently = patience(clock, given.engineWaitMs);
  const current = async () => inspect(engine, program.container);
  const fingerprint = async (container: NonNullable<Awaited<ReturnType<typeof current>>>) =>
    fingerprintOf(engine, container, program.image_repositories);

  const isAcquired: RuntimeAdapter["isAcquired"] = async ({ fingerprint: digest }) =>
    patiently(async () => (await findImage(engine, digest)) !== null);

  return {
    ...configFiles({ program, fs, saved: saved.files, owner: "folder" }),

    async acquire(artifact, _, signal) {
      // The previous image is still here when the registry has forgotten it.
      if (await isAcquired(artifact)) return;
      const reference = allowedReference(artifact, program.image_repositories);
      await notes.change(({ pulled }) => ({ pulled: withOne(pulled, pinned(reference)) }));
      const headers = await registryAuth(program.registry_auth_file, reference.repository, fs);
      await patiently(async () => pullImage(engine, reference, { signal, headers }), signal);
      await verifiedImage(engine, artifact);
    },
    isAcquired,
    verify: async (artifact, signal) =>
      patiently(async () => void (await verifiedImage(engine, artifact)), signal),
    removeDownload: async () => patiently(async () => prune(deps)),

    backup: async (request, signal) => patiently(async () => saved.save(request, signal), signal),
    readBackup: saved.read,

    async measure() {
      const container = await current();
      return container === null ? null : fingerprint(container);
    },
    async installedStamp() {
      const container = await current();
      return container === null ? "absent" : `${container.Id} ${container.Image}`;
    },
    isInstalled: async (artifact, request) => patiently(async () => isInstalled(deps, artifact, request)),
    install: async (artifact, signal, request) =>
      patiently(async () => install(deps, artifact, request, signal), signal),
    async restore(ref, signal) {
      const { key } = await saved.read(ref);
      const container = await saved.container(ref);
      await patiently(async () => restore(deps, key, container, signal), signal);
    },

    reload: async () => undefined, // the engine reads no files of ours
    start: async (request, signal) => patiently(async () => start(deps, request, signal), signal),
    stop: async (signal) => patiently(async () => stop(deps, signal), signal),
    isRunning: async () =>
      patiently(async () => {
        const container = await current();
        return container !== null && isOn(container);
      }),
    async isSupervised() {
      const container = await current();
      return container !== null && isOn(container) && restarts(container.HostConfig.RestartPolicy);
    },
    running: async () => patiently(async () => (await observe(deps)).running),
    supervision: async () => observe(deps),
  };
}
