/**
 * Putting a container in the place of another (ROLL-8).
 *
 * 1. Each step is found done when it is asked for again: between any two of them the agent may be killed.
 * 2. The one that makes way keeps its name plus the job's key, is off and stays off.
 * 3. The label `replaced` names the container of the previous state, which is kept for a rollback.
 */
import { FairleadError } from "../../../../core/errors.ts";
import type { ArtifactRef } from "../../../../core/upgrade/job.ts";
import type { DockerProgram } from "../../../programs/config.ts";
import type { InstallRequest } from "../../port.ts";
import { cloneFor } from "./clone.ts";
import { asideName, createNamed, inspect, isOn, rename } from "./containers.ts";
import type { Engine } from "./engine.ts";
import { findImage, type FoundImage, fingerprintOf, imageOf } from "./images.ts";
import { isRunAs, keyOf, LABELS } from "./labels.ts";
import { joinNetworks } from "./networks.ts";
import { type NoteBook, withOne } from "./notes.ts";
import { keepOff, wantedRestart } from "./restart-policy.ts";
import type { Container } from "./schemas.ts";

export interface InstallDeps {
  readonly profile: string;
  readonly program: DockerProgram;
  readonly engine: Engine;
  readonly notes: NoteBook;
}

export async function isInstalled(
  { program, engine }: InstallDeps,
  { fingerprint }: ArtifactRef,
  request: InstallRequest | undefined,
): Promise<boolean> {
  const container = await inspect(engine, program.container);
  if (container === null) return false;
  if ((await fingerprintOf(engine, container, program.image_repositories)) !== fingerprint) return false;
  return request === undefined || isOfJob(container, request, program);
}

const isOfJob = (container: Container, { key, run }: InstallRequest, program: DockerProgram): boolean =>
  keyOf(container) === key && isRunAs(container, program.run, run);

export async function install(
  deps: InstallDeps,
  artifact: ArtifactRef,
  request: InstallRequest,
  signal: AbortSignal,
): Promise<void> {
  const { engine, program } = deps;
  const image = await verifiedImage(engine, artifact);
  const current = await inspect(engine, program.container);
  const made = current !== null && isOfJob(current, request, program) ? current : null; // (1)
  const old =
    made === null && current !== null
      ? await setAside(deps, current, request.key, signal)
      : await aside(deps, request.key);
  const container = made ?? (await create(deps, { old, image, request }, signal));
  if (container.Image !== image.id)
    throw new FairleadError("ARTIFACT_DIGEST_MISMATCH", `the engine made a container of ${container.Image}`);
  await joinNetworks(engine, old, container, signal);
}

/** Codes: ARTIFACT_DIGEST_MISMATCH when no image in the engine has this digest. */
export async function verifiedImage(engine: Engine, { fingerprint }: ArtifactRef): Promise<FoundImage> {
  const image = await findImage(engine, fingerprint);
  if (image !== null) return image;
  throw new FairleadError("ARTIFACT_DIGEST_MISMATCH", `no image in the engine has the digest ${fingerprint}`);
}

/** (2) */
async function setAside(
  { engine, program, notes }: InstallDeps,
  current: Container,
  key: string,
  signal: AbortSignal,
): Promise<Container> {
  if (isOn(current)) throw new FairleadError("ACTION_FAILED", `${program.container} is still on`);
  await keepOff(engine, current, notes, signal);
  await notes.change(({ aside: ids }) => ({ aside: withOne(ids, current.Id) }));
  await rename(engine, current, asideName(program.container, key), signal);
  return current;
}

async function aside({ engine, program }: InstallDeps, key: string): Promise<Container> {
  const old = await inspect(engine, asideName(program.container, key));
  if (old !== null) return old;
  throw new FairleadError(
    "NOT_FOUND",
    `there is no container ${program.container} to take the settings from`,
  );
}

/** A retry that finds its target in place: a rollback goes to the container that the target replaced. (3) */
const isSame = (
  old: Container,
  image: FoundImage,
  { run }: InstallRequest,
  program: DockerProgram,
): boolean => old.Image === image.id && isRunAs(old, program.run, run);

async function create(
  deps: InstallDeps,
  { old, image, request }: { old: Container; image: FoundImage; request: InstallRequest },
  signal: AbortSignal,
): Promise<Container> {
  const { profile, program, engine, notes } = deps;
  const body = cloneFor(old, await imageOf(engine, old), {
    profile,
    key: request.key,
    instance_id: `${request.key}.1`,
    image: image.name,
    run: request.run,
    env: program.env,
    provisioned: program.run,
    restart: await wantedRestart(old, notes),
    replaced: isSame(old, image, request, program) ? (old.Config.Labels[LABELS.replaced] ?? old.Id) : old.Id,
  });
  signal.throwIfAborted();
  return createNamed(engine, program.container, body, signal);
}
