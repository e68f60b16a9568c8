/**
 * The way back: the container that made way gets its place again (ROLL-8, ROLL-9).
 *
 * 1. A container that this job did not make is never removed.
 * 2. Each step is found done when it is asked for again.
 */
import { isDeepStrictEqual } from "node:util";
import { FairleadError } from "../../../../core/errors.ts";
import { cloneAsItWas } from "./clone.ts";
import { createNamed, inspect, isOn, remove, rename } from "./containers.ts";
import { findImage, imageById } from "./images.ts";
import type { InstallDeps } from "./install.ts";
import { keyOf } from "./labels.ts";
import { joinNetworks } from "./networks.ts";
import { letRestart } from "./restart-policy.ts";
import type { SavedContainer } from "./saved.ts";
import type { Container } from "./schemas.ts";

/** What the job with this key replaced is back in its place; `saved` is null when nothing was there. */
export async function restore(
  deps: InstallDeps,
  key: string,
  saved: SavedContainer | null,
  signal: AbortSignal,
): Promise<void> {
  const { engine, program, notes } = deps;
  const current = await inspect(engine, program.container);
  if (current !== null && current.Id !== saved?.container.Id) {
    if (keyOf(current) !== key && !isRestored(current, saved))
      throw new FairleadError("ACTION_FAILED", `${program.container} is a container of somebody else`); // (1)
    if (keyOf(current) === key) {
      if (isOn(current)) throw new FairleadError("ACTION_FAILED", `${program.container} is still on`);
      await remove(engine, current.Id, signal);
    }
  }
  if (saved === null) return;
  const there = (await inspect(engine, saved.container.Id)) ?? (await inspect(engine, program.container));
  const back = there ?? (await createAgain(deps, saved, signal));
  if (back.Name !== `/${program.container}`) await rename(engine, back, program.container, signal);
  await joinNetworks(engine, saved.container, back, signal);
  await letRestart(engine, back, notes, signal);
}

/** Made again from what was saved, by a restore that was interrupted. */
const isRestored = (current: Container, saved: SavedContainer | null): boolean =>
  saved !== null &&
  current.Image === saved.container.Image &&
  isDeepStrictEqual(current.Config.Labels, saved.container.Config.Labels);

async function createAgain(
  { engine, program }: InstallDeps,
  saved: SavedContainer,
  signal: AbortSignal,
): Promise<Container> {
  const { container, restart, fingerprint } = saved;
  if ((await imageById(engine, container.Image)) === null)
    throw new FairleadError(
      "BACKUP_CORRUPT",
      "the container that was set aside is gone, and so is its image",
    );
  const named = await findImage(engine, fingerprint);
  const image = named?.id === container.Image ? named.name : container.Image;
  return createNamed(engine, program.container, cloneAsItWas(container, image, restart), signal);
}
