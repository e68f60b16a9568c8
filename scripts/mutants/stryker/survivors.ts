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

type Entry = readonly [line: string, was: string, becomes: string, because: string];

const inFile = (file: string, entries: readonly Entry[]): Survivor[] =>
  entries.map(([line, was, becomes, because]) => ({ file, line, was, becomes, because }));

const OPTIONAL_DETAILS = "Node types the details as optional, and every RSA key has them.";
const ALONG_THE_SCHEMA =
  "A reader along the schema is a shortcut: content that it did not read is checked step by step, with the same verdict.";

export const SURVIVORS: readonly Survivor[] = [
  ...inFile("src/trust/keys.ts", [
    [
      "const NOT_REDUCED = /^(e[d-f]|f[0-9a-f])(ff){30}7f$/;",
      "/^(e[d-f]|f[0-9a-f])(ff){30}7f$/",
      "/(e[d-f]|f[0-9a-f])(ff){30}7f$/",
      "A point is 64 characters of hex, and so is the pattern: it can begin nowhere else.",
    ],
    [
      "const NOT_REDUCED = /^(e[d-f]|f[0-9a-f])(ff){30}7f$/;",
      "/^(e[d-f]|f[0-9a-f])(ff){30}7f$/",
      "/^(e[d-f]|f[0-9a-f])(ff){30}7f/",
      "A point is 64 characters of hex, and so is the pattern: nothing can follow it.",
    ],
    [
      "const bits = details?.modulusLength ?? 0;",
      "details?.modulusLength",
      "details.modulusLength",
      OPTIONAL_DETAILS,
    ],
    [
      'return (details?.publicExponent ?? 0n) < 65_537n ? "RSA exponent below 65537" : null;',
      "details?.publicExponent",
      "details.publicExponent",
      OPTIONAL_DETAILS,
    ],
  ]),
  ...inFile("src/trust/merkle.ts", [
    [
      "const sorted = leaves.toSorted((a, b) => (a.node_id < b.node_id ? -1 : 1));",
      "a.node_id < b.node_id",
      "a.node_id <= b.node_id",
      "The nodes of an intent are a set: no two leaves have the same id.",
    ],
  ]),
  ...inFile("src/trust/order.ts", [
    [
      ".toSorted((a, b) => (a.rank < b.rank ? -1 : 1))",
      "a.rank < b.rank",
      "a.rank <= b.rank",
      "Nodes have ids of their own, and equal ranks would be a collision of SHA-256.",
    ],
  ]),
  ...inFile("src/trust/verify-snapshot.ts", [
    ["return read === null", "read === null", "true", ALONG_THE_SCHEMA],
    [
      ': { kind: "parsed", value: read.value, typed: read.organizations };',
      '"parsed"',
      '""',
      "Callers compare the kind with rejected only.",
    ],
    [
      "{ except = [] }: { readonly except?: readonly number[] } = {},",
      "[]",
      '["Stryker was here"]',
      "The list is compared with numbers of steps: a text in it leaves out no step.",
    ],
    ["if (typed !== null) return ok;", "typed !== null", "false", ALONG_THE_SCHEMA],
    ["const found = typed === null ? findSecret(value) : null;", "typed === null", "true", ALONG_THE_SCHEMA],
  ]),
];
