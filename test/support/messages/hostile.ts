/** Messages of a node that is broken or hostile: each field of each form of a message with each bad value in its place. */
import type { z } from "zod";
import { examplesOf, fieldsOf, replaced, type Path } from "./fields.ts";

/** As JSON text: some of these no program writes by itself. */
const TOKENS: readonly string[] = [
  String.raw`"\u0000"`,
  String.raw`"a\u0000b"`,
  String.raw`"\ud800"`,
  String.raw`"\udfff\ud800"`,
  String.raw`"\u0001\u001b[2J\u202e"`,
  `"${"a".repeat(20_000)}"`,
  `"${"\u{1f6f6}".repeat(60)}"`,
  '""',
  '"0000-01-01T00:00:00.000Z"',
  '"0001-01-01T00:00:00.000Z"',
  '"9999-12-31T23:59:59.999Z"',
  '"+275760-09-13T00:00:00.000Z"',
  '"00000000-0000-0000-0000-000000000000"',
  '"FFFFFFFF-FFFF-4FFF-8FFF-FFFFFFFFFFFF"',
  "-1",
  "-0",
  "0.5",
  "2147483648",
  "9007199254740991",
  "9007199254740993",
  "1e308",
  "1e400",
  "null",
  "true",
  "[]",
  "{}",
  '{"__proto__":{"at":1},"constructor":1}',
  String.raw`{"\u0000":{"epoch":1,"version":1}}`,
  `${"[".repeat(5_000)}${"]".repeat(5_000)}`,
];

/** Bytes that are no UTF-8, inside a string. */
const NO_UTF8 = Buffer.from([0x22, 0xc3, 0x28, 0xff, 0x22]);
const PLACE = "the-place-of-the-bad-value";

export interface Hostile {
  readonly what: string;
  readonly body: Buffer;
}

/** `prepare` puts ids into an example that the server knows. */
export function hostileMessages(
  schema: z.ZodType,
  prepare: (example: unknown) => unknown = (example) => example,
): Hostile[] {
  const examples = examplesOf(schema);
  return places(schema).flatMap((path) => {
    const message = examples
      .map((example) => replaced(prepare(example), path, PLACE))
      .find((made) => made !== null);
    if (message === undefined) throw new Error(`no example has a field ${path.join(".")}`);
    const [before, after] = JSON.stringify(message).split(JSON.stringify(PLACE)) as [string, string];
    const around = (token: Buffer) => Buffer.concat([Buffer.from(before), token, Buffer.from(after)]);
    const name = path.join(".");
    return [
      ...TOKENS.map((token) => ({
        what: `${name} = ${token.slice(0, 40)}`,
        body: around(Buffer.from(token)),
      })),
      { what: `${name} = no UTF-8`, body: around(NO_UTF8) },
    ];
  });
}

/** Leaves, and the objects and lists around them. */
function places(schema: z.ZodType): Path[] {
  const all = fieldsOf(schema).flatMap(({ path }) => path.map((_, depth) => path.slice(0, depth + 1)));
  return [...new Map(all.map((path) => [path.join("."), path])).values()];
}
