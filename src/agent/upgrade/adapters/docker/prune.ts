/**
 * Leftovers of earlier upgrades in the engine: kept are the program's container and the one that a rollback goes back to,
 * which also keeps that one's image from other people's tidying. The rest goes.
 *
 * 1. A container goes only when this adapter set it aside, it still has the name that says so, and it is off.
 * 2. An image goes only when this adapter pulled it and no container is made of it.
 * 3. What the engine does not let go stays in the notes and is tried again after the next upgrade: being tidy is no
 *    reason to fail one.
 */
import type { DockerProgram } from "../../../programs/config.ts";
import { inspect, isAsideName, listContainers } from "./containers.ts";
import type { Engine } from "./engine.ts";
import { LABELS } from "./labels.ts";
import type { NoteBook } from "./notes.ts";
import { parseReference } from "./reference.ts";
import { findImage } from "./images.ts";

export interface PruneDeps {
  readonly program: DockerProgram;
  readonly engine: Engine;
  readonly notes: NoteBook;
}

const OFF = new Set(["created", "exited", "dead"]);
/** Gone, in use again, or not to be had just now. (3) */
const KEPT = [404, 409, 500];

export async function prune(deps: PruneDeps): Promise<void> {
  const current = await inspect(deps.engine, deps.program.container);
  if (current === null) return; // an upgrade that is stuck halfway: hands off
  await pruneContainers(deps, [current.Id, current.Config.Labels[LABELS.replaced] ?? ""]);
  await pruneImages(deps);
}

async function pruneContainers(
  { program, engine, notes }: PruneDeps,
  kept: readonly string[],
): Promise<void> {
  const { aside } = await notes.read();
  const there = await listContainers(engine);
  const old = there.filter(
    ({ Id, Names, State }) =>
      aside.includes(Id) &&
      !kept.includes(Id) &&
      OFF.has(State) &&
      Names.some((name) => isAsideName(program.container, name)), // (1)
  );
  for (const { Id } of old)
    await engine.change({ method: "DELETE", path: `/containers/${Id}?v=0`, fine: KEPT });
  const left = new Set((await listContainers(engine)).map(({ Id }) => Id));
  await notes.change(({ aside: ids, restart }) => ({
    aside: ids.filter((id) => left.has(id)),
    restart: Object.fromEntries(Object.entries(restart).filter(([id]) => left.has(id))),
  }));
}

async function pruneImages({ engine, notes }: PruneDeps): Promise<void> {
  const inUse = new Set((await listContainers(engine)).map(({ ImageID }) => ImageID));
  const gone: string[] = [];
  for (const name of (await notes.read()).pulled) {
    const digest = parseReference(name)?.digest;
    const image = digest === undefined ? null : await findImage(engine, digest);
    if (image !== null && inUse.has(image.id)) continue; // (2)
    if (image === null || (await removed(engine, name))) gone.push(name);
  }
  await notes.change(({ pulled }) => ({ pulled: pulled.filter((name) => !gone.includes(name)) }));
}

async function removed(engine: Engine, image: string): Promise<boolean> {
  const { status } = await engine.change({ method: "DELETE", path: `/images/${image}`, fine: KEPT });
  return status < 300 || status === 404;
}
