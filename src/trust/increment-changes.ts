/** What an increment says: made from two contents, and applied to one (SNAP-6). */
import { FairleadError } from "../core/errors.ts";
import type { Json } from "../core/json.ts";
import { IncrementContent } from "../core/snapshot/increment.ts";
import { canonicalBytes } from "./canonical-json.ts";
import { diffJson } from "./json-diff.ts";
import { applyPatch } from "./json-patch.ts";
import { equal, isObject, membersOf, setOwn, type JsonObject } from "./json-values.ts";
import { fail, type Failure } from "./snapshot-subject.ts";

/** The shorter of the two ways to say it; null when nothing changed, or when it cannot be said this way. */
export function incrementBetween(before: Json, after: Json): IncrementContent | null {
  const operations = diffJson(before, after);
  const [shortest] = [{ kind: "patch", operations }, sectionsBetween(before, after)]
    .filter((content) => IncrementContent.safeParse(content).success)
    .map((content) => ({
      content: content as IncrementContent,
      bytes: canonicalBytes(content as Json).length,
    }))
    .toSorted((left, right) => left.bytes - right.bytes);
  return operations.length === 0 ? null : (shortest?.content ?? null);
}

/** A section of null is one to remove, so a section that is null cannot be put in place. */
function sectionsBetween(before: Json, after: Json): object | null {
  if (!isObject(before) || !isObject(after)) return null;
  const sections: JsonObject = {};
  for (const name of membersOf(before)) if (!Object.hasOwn(after, name)) setOwn(sections, name, null);
  for (const name of membersOf(after)) {
    const [was, is] = [before[name], after[name] as Json];
    if (is === null) return null;
    if (was === undefined || !equal(was, is)) setOwn(sections, name, is);
  }
  return { kind: "sections", sections };
}

type Applied =
  | { readonly kind: "result"; readonly bytes: Buffer }
  | { readonly kind: "failed"; readonly step: number; readonly failure: Failure };

/** `changes` are signed and parsed, and nothing more. */
export function applyChanges(base: Json, changes: Json): Applied {
  const parsed = IncrementContent.safeParse(changes);
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0]!;
    const failure = fail("SNAPSHOT_CONTENT_INVALID", path.join(".") || "content", message);
    return { kind: "failed", step: 11, failure };
  }
  // As they were signed: a schema's copy leaves a member called __proto__ behind.
  const signed = changes as unknown as IncrementContent;
  try {
    const content =
      signed.kind === "patch" ? applyPatch(base, signed.operations) : withSections(base, signed.sections);
    return { kind: "result", bytes: canonicalBytes(content) };
  } catch (error) {
    if (!(error instanceof FairleadError)) throw error;
    return { kind: "failed", step: 6, failure: resultMismatch(error.message) };
  }
}

export const resultMismatch = (reason: string): Failure =>
  fail("INCREMENT_RESULT_MISMATCH", "result_content_hash", reason);

function withSections(base: Json, sections: JsonObject): Json {
  const result: JsonObject = {};
  for (const [name, section] of Object.entries(isObject(base) ? base : {}))
    if (!Object.hasOwn(sections, name)) setOwn(result, name, section);
  for (const [name, section] of Object.entries(sections)) if (section !== null) setOwn(result, name, section);
  return result;
}
