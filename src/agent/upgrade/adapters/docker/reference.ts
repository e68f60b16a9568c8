/**
 * The name of an image: `repository@sha256:…` (ROLL-8).
 *
 * 1. The digest decides what runs. A tag may stand in front of it and says nothing; alone it is refused.
 * 2. Only repositories that the machine's operator listed, compared whole: the engine resolves no short name for us.
 */
import { FairleadError } from "../../../../core/errors.ts";
import { Digest } from "../../../../core/ids.ts";
import type { ArtifactRef } from "../../../../core/upgrade/job.ts";

const PINNED =
  /^(?<repository>[^@]+?)(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?@(?<digest>sha256:[0-9a-f]{64})$/;

export interface ImageReference {
  readonly repository: string;
  readonly digest: Digest;
}

export const pinned = ({ repository, digest }: ImageReference): string => `${repository}@${digest}`;

/** Undefined for anything that is not pinned by digest. */
export function parseReference(text: string): ImageReference | undefined {
  const { repository, digest } = PINNED.exec(text)?.groups ?? {};
  return repository === undefined ? undefined : { repository, digest: Digest.parse(digest) };
}

/** Codes: IMAGE_NOT_PINNED, ORIGIN_NOT_ALLOWED, ARTIFACT_DIGEST_MISMATCH. */
export function allowedReference(
  { url, fingerprint }: ArtifactRef,
  repositories: readonly string[],
): ImageReference {
  const reference = parseReference(url);
  if (reference === undefined)
    throw new FairleadError("IMAGE_NOT_PINNED", "the image is not named by its digest"); // (1)
  if (!repositories.includes(reference.repository))
    throw new FairleadError("ORIGIN_NOT_ALLOWED", `${reference.repository} is not in image_repositories`); // (2)
  if (reference.digest !== fingerprint)
    throw new FairleadError(
      "ARTIFACT_DIGEST_MISMATCH",
      `the address names ${reference.digest}, not ${fingerprint}`,
    );
  return reference;
}
