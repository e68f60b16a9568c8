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

const IN_ORDER =
  "The check of the order is a shortcut: a value that it does not pass is written key by key, to the same text.";

export const SURVIVORS: readonly Survivor[] = [
  ...inFile("src/trust/canonical-json.ts", [
    [
      "function isInOrder(value: Json | undefined, depth: number): boolean {",
      '{\n  if (value === null || value === true || value === false) return true;\n  if (typeof value === "number") return checkNumber(value);\n  if (typeof value === "string") return checkString(value);\n  if (typeof value !== "object") throw refused(`a ${typeof value} is not JSON`);\n  if (depth >= DEPTH_MAX) throw refused("nested too deeply");\n  if (Array.isArray(value)) {\n    for (let index = 0; index < value.length; index++)\n      if (!isInOrder(value[index] as Json | undefined, depth + 1)) return false;\n    return true;\n  }\n  if (Object.getPrototypeOf(value) !== Object.prototype) return false;\n  let before = "";\n  for (const key of Object.keys(value)) {\n    if (key < before || !checkString(key)) return false; // (2)\n    const member = (value as JsonObject)[key];\n    if (member === undefined || !isInOrder(member, depth + 1)) return false;\n    before = key;\n  }\n  return true;\n}',
      "{}",
      IN_ORDER,
    ],
    ["if (value === null || value === true || value === false) return true;", "true", "false", IN_ORDER],
    ["if (Array.isArray(value)) {", "Array.isArray(value)", "false", IN_ORDER],
    [
      "if (Array.isArray(value)) {",
      "{\n    for (let index = 0; index < value.length; index++)\n      if (!isInOrder(value[index] as Json | undefined, depth + 1)) return false;\n    return true;\n  }",
      "{}",
      IN_ORDER,
    ],
    [
      "if (!isInOrder(value[index] as Json | undefined, depth + 1)) return false;",
      "!isInOrder(value[index] as Json | undefined, depth + 1)",
      "true",
      IN_ORDER,
    ],
    ["return true;", "true", "false", IN_ORDER],
    [
      "if (Object.getPrototypeOf(value) !== Object.prototype) return false;",
      "Object.getPrototypeOf(value) !== Object.prototype",
      "true",
      IN_ORDER,
    ],
    ['let before = "";', '""', '"Stryker was here!"', IN_ORDER],
    [
      "if (key < before || !checkString(key)) return false; // (2)",
      "key < before || !checkString(key)",
      "true",
      IN_ORDER,
    ],
    [
      "if (key < before || !checkString(key)) return false; // (2)",
      "key < before",
      "key <= before",
      IN_ORDER,
    ],
    [
      "if (key < before || !checkString(key)) return false; // (2)",
      "key < before",
      "key >= before",
      IN_ORDER,
    ],
    [
      "if (key < before || !checkString(key)) return false; // (2)",
      "!checkString(key)",
      "checkString(key)",
      IN_ORDER,
    ],
    [
      "if (member === undefined || !isInOrder(member, depth + 1)) return false;",
      "member === undefined || !isInOrder(member, depth + 1)",
      "true",
      IN_ORDER,
    ],
    [
      'if (!NEEDS_CARE.test(value)) return `"${value}"`;',
      "!NEEDS_CARE.test(value)",
      "false",
      "Text without special characters is its own JSON: the pattern saves the call.",
    ],
  ]),
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
