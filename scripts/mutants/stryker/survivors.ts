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

const HARMLESS =
  "A cache of harmless texts: without an entry, or with more of them, the same text is searched again with the same result.";
const SHORTCUT = "A shortcut: a text that is not plain is searched, and nothing is found in one that is.";
const NO_OTHER_ERROR = "The call throws no other error.";
const NO_SUCH_ID = "The list holds ids of keys, and no id is that text.";
const LOADED_KEYS = "A cache: without it the key is loaded again from the same bytes.";
const READ_ALONG =
  "A reader along the schema is a shortcut: bytes that it did not read are parsed step by step, with the same result.";

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
    ['kind: "parsed",', '"parsed"', '""', "Callers compare the kind with rejected only."],
    [
      "{ except = [] }: { readonly except?: readonly number[] } = {},",
      "[]",
      '["Stryker was here"]',
      "The list is compared with numbers of steps: a text in it leaves out no step.",
    ],
    ["if (typed !== null) return ok;", "typed !== null", "false", ALONG_THE_SCHEMA],
    ["const found = typed === null ? findSecret(value) : null;", "typed === null", "true", ALONG_THE_SCHEMA],
  ]),
  ...inFile("src/trust/find-secret.ts", [
    ["if (harmless.size >= HARMLESS_MAX) harmless.clear();", "harmless.clear();", ";", HARMLESS],
    [
      "const SUSPECT = /[=@$'\"{[\\\\\\s]|[A-Za-z0-9+/_-]{15}/;",
      "/[=@$'\"{[\\\\\\s]|[A-Za-z0-9+/_-]{15}/",
      "/[^=@$'\"{[\\\\\\s]|[A-Za-z0-9+/_-]{15}/",
      SHORTCUT,
    ],
    [
      "const SUSPECT = /[=@$'\"{[\\\\\\s]|[A-Za-z0-9+/_-]{15}/;",
      "/[=@$'\"{[\\\\\\s]|[A-Za-z0-9+/_-]{15}/",
      "/[=@$'\"{[\\\\\\S]|[A-Za-z0-9+/_-]{15}/",
      SHORTCUT,
    ],
    [
      "const SUSPECT = /[=@$'\"{[\\\\\\s]|[A-Za-z0-9+/_-]{15}/;",
      "/[=@$'\"{[\\\\\\s]|[A-Za-z0-9+/_-]{15}/",
      "/[=@$'\"{[\\\\\\s]|[A-Za-z0-9+/_-]/",
      SHORTCUT,
    ],
    [
      "const isPlain = (text: string): boolean => !SUSPECT.test(text) || SHAPES.test(text);",
      "(text: string): boolean => !SUSPECT.test(text) || SHAPES.test(text)",
      "() => undefined",
      SHORTCUT,
    ],
    [
      "if (error instanceof FairleadError) return null;",
      "error instanceof FairleadError",
      "true",
      NO_OTHER_ERROR,
    ],
    ["if (text.length > HARMLESS_CHARS_MAX) return;", "text.length > HARMLESS_CHARS_MAX", "true", HARMLESS],
    ["if (text.length > HARMLESS_CHARS_MAX) return;", "text.length > HARMLESS_CHARS_MAX", "false", HARMLESS],
    [
      "if (text.length > HARMLESS_CHARS_MAX) return;",
      "text.length > HARMLESS_CHARS_MAX",
      "text.length >= HARMLESS_CHARS_MAX",
      HARMLESS,
    ],
    [
      "if (text.length > HARMLESS_CHARS_MAX) return;",
      "text.length > HARMLESS_CHARS_MAX",
      "text.length <= HARMLESS_CHARS_MAX",
      HARMLESS,
    ],
    [
      "if (harmless.size >= HARMLESS_MAX) harmless.clear();",
      "harmless.size >= HARMLESS_MAX",
      "true",
      HARMLESS,
    ],
    [
      "if (harmless.size >= HARMLESS_MAX) harmless.clear();",
      "harmless.size >= HARMLESS_MAX",
      "false",
      HARMLESS,
    ],
    [
      "if (harmless.size >= HARMLESS_MAX) harmless.clear();",
      "harmless.size >= HARMLESS_MAX",
      "harmless.size > HARMLESS_MAX",
      HARMLESS,
    ],
    [
      "if (harmless.size >= HARMLESS_MAX) harmless.clear();",
      "harmless.size >= HARMLESS_MAX",
      "harmless.size < HARMLESS_MAX",
      HARMLESS,
    ],
    ["harmless.add(text);", "harmless.add(text);", ";", HARMLESS],
    [
      "if (wrappings === WRAPPINGS_MAX && harmless.has(value)) return null;",
      "wrappings === WRAPPINGS_MAX && harmless.has(value)",
      "false",
      HARMLESS,
    ],
    [
      "if (wrappings === WRAPPINGS_MAX && harmless.has(value)) return null;",
      "wrappings === WRAPPINGS_MAX",
      "true",
      HARMLESS,
    ],
    [
      "if (wrappings === WRAPPINGS_MAX && harmless.has(value)) return null;",
      "wrappings === WRAPPINGS_MAX",
      "wrappings !== WRAPPINGS_MAX",
      HARMLESS,
    ],
    [
      'if (value === null || typeof value !== "object") return null;',
      'typeof value !== "object"',
      "false",
      SHORTCUT,
    ],
    [
      "const isPlain = (text: string): boolean => !SUSPECT.test(text) || SHAPES.test(text);",
      "!SUSPECT.test(text) || SHAPES.test(text)",
      "false",
      SHORTCUT,
    ],
    [
      "const isPlain = (text: string): boolean => !SUSPECT.test(text) || SHAPES.test(text);",
      "!SUSPECT.test(text) || SHAPES.test(text)",
      "!SUSPECT.test(text) && SHAPES.test(text)",
      SHORTCUT,
    ],
    ["if (isPlain(text)) return null;", "isPlain(text)", "false", SHORTCUT],
    [
      'return json === null ? null : (search(json, "", wrappings - 1)?.looksLike ?? null);',
      "json === null",
      "false",
      SHORTCUT,
    ],
    [
      'return json === null ? null : (search(json, "", wrappings - 1)?.looksLike ?? null);',
      '""',
      '"Stryker was here!"',
      SHORTCUT,
    ],
    [
      "if (packed.length === text.length && PACKED.test(text)) return;",
      "packed.length === text.length && PACKED.test(text)",
      "false",
      SHORTCUT,
    ],
    [
      "if (packed.length === text.length && PACKED.test(text)) return;",
      "packed.length === text.length",
      "true",
      SHORTCUT,
    ],
    [
      "if (packed.length === text.length && PACKED.test(text)) return;",
      "packed.length === text.length",
      "packed.length !== text.length",
      SHORTCUT,
    ],
    ['if (!/^\\s*[[{"]/.test(text)) return null;', '!/^\\s*[[{"]/.test(text)', "false", SHORTCUT],
    ['if (!/^\\s*[[{"]/.test(text)) return null;', '/^\\s*[[{"]/', '/\\s*[[{"]/', SHORTCUT],
  ]),
  ...inFile("src/trust/content-scope.ts", [
    [
      "if (organizations?.isSubsetOf(granted) === true) return ok;",
      "organizations?.isSubsetOf(granted) === true",
      "false",
      READ_ALONG,
    ],
  ]),
  ...inFile("src/trust/config-secrets.ts", [
    [
      "if (error instanceof FairleadError) return null;",
      "error instanceof FairleadError",
      "true",
      NO_OTHER_ERROR,
    ],
  ]),
  ...inFile("src/trust/trusted-keys.ts", [
    ["revokedKeys: readonly KeyId[] = [],", "[]", '["Stryker was here"]', NO_SUCH_ID],
    [
      "if (kept?.of.key_id === key_id && kept.of.algorithm === algorithm && kept.of.public_key === public_key)",
      "kept?.of.key_id === key_id && kept.of.algorithm === algorithm && kept.of.public_key === public_key",
      "false",
      LOADED_KEYS,
    ],
    [
      "if (error instanceof FairleadError) return untrusted(error.message);",
      "error instanceof FairleadError",
      "true",
      NO_OTHER_ERROR,
    ],
    ["revokedKeys: readonly KeyId[] = [],", "[]", '["Stryker was here"]', NO_SUCH_ID],
  ]),
  ...inFile("src/trust/command.ts", [
    ["revokedKeys: readonly KeyId[] = [],", "[]", '["Stryker was here"]', NO_SUCH_ID],
  ]),
  ...inFile("src/trust/intent.ts", [
    ["revokedKeys: readonly KeyId[] = [],", "[]", '["Stryker was here"]', NO_SUCH_ID],
  ]),
  ...inFile("src/trust/online-signatures.ts", [
    [
      "function isKnown({ bundle, revokedKeys = [] }: OnlineBelief, keyId: KeyId): boolean {",
      "[]",
      '["Stryker was here"]',
      NO_SUCH_ID,
    ],
  ]),
  ...inFile("src/trust/root-signatures.ts", [
    [
      "return withoutRevoked(root, (previous ?? bundle)?.revoked_keys ?? []);",
      "[]",
      '["Stryker was here"]',
      NO_SUCH_ID,
    ],
  ]),
  ...inFile("src/trust/trust-bundle-rules.ts", [
    [
      "if (error instanceof FairleadError) return { field, reason: error.message };",
      "error instanceof FairleadError",
      "true",
      NO_OTHER_ERROR,
    ],
  ]),
  ...inFile("src/trust/snapshot-envelope.ts", [
    [
      'if (error instanceof FairleadError) return reject(1, fail(error.code, "frame", error.message));',
      "error instanceof FairleadError",
      "true",
      NO_OTHER_ERROR,
    ],
    ["read: readerFor(schema, { isSearched: false }),", "{ isSearched: false }", "{}", READ_ALONG],
    ["read: readerFor(schema, { isSearched: false }),", "false", "true", READ_ALONG],
  ]),
  ...inFile("src/trust/frame.ts", [
    [
      "const readSignatures = readerFor(FrameSignatures, { isSearched: false });",
      "{ isSearched: false }",
      "{}",
      READ_ALONG,
    ],
    [
      "const readSignatures = readerFor(FrameSignatures, { isSearched: false });",
      "false",
      "true",
      READ_ALONG,
    ],
    ["if (read !== null) return read.value;", "read !== null", "false", READ_ALONG],
  ]),
];
