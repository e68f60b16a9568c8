/**
 * Which image is which (ROLL-15).
 *
 * 1. A fingerprint is the digest by which an image was asked for: of its manifest, or of the list that led to it. The
 *    engine keeps it beside the image (`RepoDigests`) after it has checked it, and no tag can move it.
 * 2. What a container runs is told by its own image's id, not by the name that it was made from.
 */
import { FairleadError } from "../../../../core/errors.ts";
import { Digest } from "../../../../core/ids.ts";
import type { Engine } from "./engine.ts";
import { LABELS } from "./labels.ts";
import { parseReference } from "./reference.ts";
import { type Container, Image, ImageList } from "./schemas.ts";

export interface FoundImage {
  readonly id: string;
  /** A name that the engine resolves to this image and to no other. */
  readonly name: string;
}

export const imageById = async (engine: Engine, id: string): Promise<Image | null> =>
  engine.get(`/images/${encodeURIComponent(id)}/json`, Image);

/** The image with this digest, whatever repository it came from; null when the engine has none. */
export async function findImage(engine: Engine, digest: Digest): Promise<FoundImage | null> {
  const images = (await engine.get("/images/json?digests=1", ImageList)) ?? [];
  for (const { Id, RepoDigests } of images) {
    const name = RepoDigests.find((entry) => parseReference(entry)?.digest === digest);
    if (name !== undefined) return { id: Id, name };
    if (Id === digest) return { id: Id, name: Id };
  }
  return null;
}

/** The digest of what the container runs, or would run. */
export async function fingerprintOf(
  engine: Engine,
  container: Container,
  repositories: readonly string[],
): Promise<Digest> {
  const image = await imageById(engine, container.Image); // (2)
  const known = (image?.RepoDigests ?? []).flatMap((entry) => parseReference(entry) ?? []);
  const asked = parseReference(container.Config.Labels[LABELS.image] ?? container.Config.Image);
  const found =
    known.find(({ digest }) => digest === asked?.digest) ?? // (1)
    known.find(({ repository }) => repositories.includes(repository)) ??
    known[0];
  // Without any digest of a registry, the image's own id: nobody signed that, and so it equals no target.
  return found?.digest ?? Digest.parse(container.Image);
}

/** Codes: ACTION_FAILED when its image is gone: then nobody can tell its settings from the image's. */
export async function imageOf(engine: Engine, container: Container): Promise<Image> {
  const image = await imageById(engine, container.Image);
  if (image !== null) return image;
  throw new FairleadError("ACTION_FAILED", `the image of ${container.Name} is not in the engine any more`);
}
