/** Mutants that survive because they mean the same as the line they change. Everything else gets a test. */
export interface Survivor {
  readonly file: string;
  /** The first line that changes, without its indentation. */
  readonly line: string;
  /** The changed part. */
  readonly was: string;
  readonly becomes: string;
  readonly because: string;
}

export const SURVIVORS: readonly Survivor[] = [
  {
    file: "src/trust/merkle.ts",
    line: "const sorted = leaves.toSorted((a, b) => (a.node_id < b.node_id ? -1 : 1));",
    was: "a.node_id < b.node_id",
    becomes: "a.node_id <= b.node_id",
    because: "The nodes of an intent are a set: no two leaves have the same id.",
  },
  {
    file: "src/trust/keys.ts",
    line: "const NOT_REDUCED = /^(e[d-f]|f[0-9a-f])(ff){30}7f$/;",
    was: "/^(e[d-f]|f[0-9a-f])(ff){30}7f$/",
    becomes: "/(e[d-f]|f[0-9a-f])(ff){30}7f$/",
    because: "A point is 64 characters of hex, and so is the pattern: it can begin nowhere else.",
  },
  {
    file: "src/trust/keys.ts",
    line: "const NOT_REDUCED = /^(e[d-f]|f[0-9a-f])(ff){30}7f$/;",
    was: "/^(e[d-f]|f[0-9a-f])(ff){30}7f$/",
    becomes: "/^(e[d-f]|f[0-9a-f])(ff){30}7f/",
    because: "A point is 64 characters of hex, and so is the pattern: nothing can follow it.",
  },
  {
    file: "src/trust/keys.ts",
    line: "const bits = details?.modulusLength ?? 0;",
    was: "details?.modulusLength",
    becomes: "details.modulusLength",
    because: "Node types the details as optional, and every RSA key has them.",
  },
  {
    file: "src/trust/keys.ts",
    line: 'return (details?.publicExponent ?? 0n) < 65_537n ? "RSA exponent below 65537" : null;',
    was: "details?.publicExponent",
    becomes: "details.publicExponent",
    because: "Node types the details as optional, and every RSA key has them.",
  },
];
