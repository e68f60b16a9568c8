/**
 * The test files that may notice a change to a file, nearest first: its own, then by the number of imports in between. Only the nearest ones run: a change that is noticed from afar alone has no test of its own.
 */
import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { inRoot } from "../../root.mjs";

const NEAREST_MAX = 6;
/** Take a second or more, and come after others as near as they. */
const SLOW = /\/(?:config-secrets|increments-in-any-order|json-patch|merkle|tampering)\.test\.ts$/u;
const VERIFICATION = ["verify-snapshot", "verify-order", "verify-content"];
const STORE = ["thirteen-proofs", "clocks", "damage", "heads", "expired-bundle"];
/** Files whose own tests have other names. */
const TESTED_BY: Readonly<Record<string, readonly string[]>> = {
  "src/trust/content-schemas.ts": ["verify-content", "trust-bundle"],
  "src/trust/json-values.ts": ["json-patch", "increment"],
  "src/trust/online-signatures.ts": ["co-signatures", "verify-snapshot"],
  "src/trust/root-signatures.ts": ["root-signatures", "root-rotation", "verify-snapshot", "trust-bundle"],
  "src/trust/snapshot-envelope.ts": VERIFICATION,

  "src/trust/snapshot-signer.ts": VERIFICATION,
  "src/trust/snapshot-subject.ts": VERIFICATION,
  "src/trust/snapshot.ts": VERIFICATION,
  "src/trust/verify-snapshot.ts": VERIFICATION,
  "src/agent/snapshots/belief.ts": STORE,
  "src/agent/snapshots/claims.ts": STORE,
  "src/agent/snapshots/held.ts": STORE,
};
const IMPORTED = /(?:from|import|import\()\s*"(?<path>\.[^"]+\.tsx?)"/gu;

export function relatedTests(file: string, patterns: readonly string[]): string[] {
  const known = new Map<string, readonly string[]>();
  const importsOf = (path: string): readonly string[] => {
    const imports = known.get(path) ?? readImports(path);
    known.set(path, imports);
    return imports;
  };
  return patterns
    .flatMap((pattern) => globSync(pattern, { cwd: inRoot(".") }))
    .toSorted()
    .flatMap((test) => {
      const distance = distanceTo(test, file, importsOf);
      if (distance === null) return [];
      const isOwn = (TESTED_BY[file] ?? [nameOf(file)]).includes(nameOf(test));
      return [{ test, rank: isOwn ? 0 : distance + (SLOW.test(test) ? 0.5 : 0) }];
    })
    .toSorted((one, other) => one.rank - other.rank)
    .slice(0, NEAREST_MAX)
    .map(({ test }) => test);
}

function distanceTo(
  start: string,
  goal: string,
  importsOf: (path: string) => readonly string[],
): number | null {
  const distances = new Map([[start, 0]]);
  for (const [path, distance] of distances)
    // a map may grow while it is read
    for (const next of importsOf(path)) if (!distances.has(next)) distances.set(next, distance + 1);
  return distances.get(goal) ?? null;
}

const readImports = (path: string): string[] =>
  [...readFileSync(inRoot(path), "utf8").matchAll(IMPORTED)].map(({ groups }) =>
    join(dirname(path), groups!["path"]!),
  );

const nameOf = (path: string): string => basename(path).replace(/(?:\.test)?\.ts$/u, "");
