/**
 * Which handlers the engine should call, decided from what it knows. Replicas of one build share an address or stand in
 * for each other; while Fairlead itself is upgraded, two builds run side by side.
 *
 * 1. The newest build gets the work. An older one never takes it from a newer one that answers, so two builds do not
 *    register against each other for ever.
 * 2. Nothing is registered over something that is right: asked again, the answer is `settled`.
 * 3. The handlers of an older build stay known until nothing is pinned to them.
 */
import { compareVersions } from "./build.ts";

export interface Deployment {
  readonly id: string;
  readonly uri: string;
  /** Null: registered by something that told no build, and older than all that do. */
  readonly build: string | null;
}

export interface Mine {
  readonly uri: string;
  readonly build: string;
}

export type Registering =
  | { readonly kind: "settled" }
  | { readonly kind: "register"; readonly overwrite: boolean }
  /** A replica of this build that is gone: what waits for it comes here. */
  | { readonly kind: "redirect"; readonly id: string }
  /** A newer build that is gone, its upgrade having failed: it is taken out, and this one back in. */
  | { readonly kind: "replace"; readonly id: string };

/** `isSilent` says of an address that nobody answers there. */
export function decideRegistration(
  mine: Mine,
  known: readonly Deployment[],
  isSilent: (uri: string) => boolean,
): Registering {
  const newest = known.toSorted((left, right) => byBuild(right.build, left.build))[0];
  if (newest === undefined) return { kind: "register", overwrite: false };
  const here = known.find(({ uri }) => sameAddress(uri, mine.uri));
  const order = byBuild(newest.build, mine.build);
  if (order > 0) return isSilent(newest.uri) ? { kind: "replace", id: newest.id } : { kind: "settled" }; // (1)
  if (order < 0) return { kind: "register", overwrite: here !== undefined };
  if (here !== undefined && here.build === mine.build) return { kind: "settled" }; // (2)
  return isSilent(newest.uri) ? { kind: "redirect", id: newest.id } : { kind: "settled" };
}

/** Invariant 3: what is to be drained, once this build is registered. */
export function olderThan(mine: Mine, known: readonly Deployment[]): Deployment[] {
  const registered = known.some(({ build }) => build === mine.build);
  return registered ? known.filter(({ build }) => byBuild(build, mine.build) < 0) : [];
}

export const sameAddress = (left: string, right: string): boolean =>
  left.replace(/\/$/, "") === right.replace(/\/$/, "");

function byBuild(left: string | null, right: string | null): number {
  if (left === null || right === null) return Number(left !== null) - Number(right !== null);
  return compareVersions(left, right);
}
