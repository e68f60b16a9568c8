/**
 * Makes a reader of canonical JSON out of a schema: one pass over the bytes checks the form, the structure and what
 * could be a secret, and builds the value (SNAP-7). JSON.parse, the canonical form and the schema would take a pass each.
 *
 * 1. A reader accepts only what parsing, canonical form, schema and `findSecret` accept as well, with the same value.
 *    It may miss what they accept: then they decide, and say why.
 * 2. A schema, or a part of one, that is not known here has no reader.
 */
import type { z } from "zod";
import { nameSaysSecret } from "../secret-patterns.ts";
import { MISS, type Read } from "./source.ts";
import { SHAPES, shapeReader, stringReader } from "./strings.ts";
import { choiceReader, listReader, objectReader, readInteger, wordReader } from "./values.ts";

/** What a schema says of itself. */
interface Definition {
  readonly type?: string;
  readonly check?: string;
  readonly format?: string;
  readonly pattern?: RegExp;
  readonly shape?: Readonly<Record<string, z.core.$ZodType>>;
  readonly catchall?: z.core.$ZodType;
  readonly element?: z.core.$ZodType;
  readonly innerType?: z.core.$ZodType;
  readonly options?: readonly z.core.$ZodType[];
  readonly entries?: Readonly<Record<string, string>>;
  readonly values?: readonly unknown[];
  readonly checks?: readonly { readonly _zod: { readonly def: Definition } }[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly value?: number;
  readonly inclusive?: boolean;
  readonly fn?: (value: unknown) => unknown;
}

export interface CompileOptions {
  /** Whether strings are searched for secrets. */
  readonly isSearched: boolean;
}

const definitionOf = (schema: z.core.$ZodType): Definition => schema._zod.def;

export function compileReader(schema: z.core.$ZodType, options: CompileOptions): Read | null {
  const definition = definitionOf(schema);
  if (definition.type === "string") return compileString(schema, options);
  if (definition.type === "array") return compileArray(definition, options);
  const read = compileType(definition, options);
  if (read === null) return null;
  const holds = (definition.checks ?? []).map((check) => holdsOf(check._zod.def));
  if (holds.includes(null)) return null; // (2)
  return holds.length === 0 ? read : checked(read, holds as ((value: unknown) => boolean)[]);
}

function compileType(definition: Definition, options: CompileOptions): Read | null {
  switch (definition.type) {
    case "object":
      return compileObject(definition, options);
    case "number":
      return definition.format === "safeint" ? readInteger : null;
    case "enum":
      return wordReader(Object.values(definition.entries!));
    case "literal":
      return wordReader(definition.values!);
    case "boolean":
      return wordReader([true, false]);
    case "nullable":
      return choiceReader([wordReader([null]), compileReader(definition.innerType!, options)]);
    case "union":
      return choiceReader(definition.options!.map((option) => compileReader(option, options)));
    default:
      return null;
  }
}

/** What a check asks of a value; null for a check that is not known here. */
function holdsOf({ check, format, pattern, minimum, maximum, value, inclusive, fn }: Definition) {
  const sizeOf = (of: unknown) => (of as string | readonly unknown[]).length;
  if (check === "min_length") return (of: unknown) => sizeOf(of) >= minimum!;
  if (check === "max_length") return (of: unknown) => sizeOf(of) <= maximum!;
  if (check === "greater_than" && inclusive === true) return (of: unknown) => (of as number) >= value!;
  if (check === "less_than" && inclusive === true) return (of: unknown) => (of as number) <= value!;
  if (check === "custom" && fn !== undefined) return (of: unknown) => fn(of) === true;
  if (isPattern({ check, format, pattern })) return (of: unknown) => pattern!.test(of as string);
  return null;
}

/** A check that asks for this pattern and nothing else. */
const isPattern = ({ check, format, pattern }: Partial<Record<keyof Definition, unknown>>): boolean =>
  check === "string_format" &&
  (format === "regex" || format === "cidrv4") &&
  pattern instanceof RegExp &&
  pattern.flags === "";

function checked(read: Read, holds: readonly ((value: unknown) => boolean)[]): Read {
  return (source) => {
    const value = read(source);
    if (value === MISS) return MISS;
    for (const isGood of holds) if (!isGood(value)) return MISS;
    return value;
  };
}

function compileString(schema: z.core.$ZodType, { isSearched }: CompileOptions): Read {
  const definition = definitionOf(schema);
  const own = definition.check === undefined ? [] : [definition];
  const checks = [...own, ...(definition.checks ?? []).map((check) => check._zod.def)];
  const [only] = checks;
  const shape = checks.length === 1 ? SHAPES.get(only?.pattern?.source ?? "") : undefined;
  if (shape !== undefined && only?.pattern?.flags === "") return shapeReader(shape);
  const [patterns, others] = [checks.filter(isPattern), checks.filter((check) => !isPattern(check))];
  const pattern = patterns.length === 1 ? patterns[0]!.pattern! : null;
  const known = (pattern === null ? checks : others).map(holdsOf);
  // What is not known here is asked of the schema itself.
  const asked = (text: unknown) => (schema as z.ZodType).safeParse(text).success;
  const holds = known.includes(null) ? [asked] : (known as ((text: string) => boolean)[]);
  return stringReader({ pattern, holds, isSearched });
}

/** Strict objects only. */
function compileObject({ shape, catchall }: Definition, options: CompileOptions): Read | null {
  if (catchall === undefined || definitionOf(catchall).type !== "never") return null;
  const fields = Object.keys(shape!).map((key) => {
    const definition = definitionOf(shape![key]!);
    const isOptional = definition.type === "optional";
    return {
      key,
      isOptional,
      read: compileReader(isOptional ? definition.innerType! : shape![key]!, options),
    };
  });
  const isPlain = (key: string) => /^[a-z][a-z_]*$/.test(key) && !nameSaysSecret(key, "");
  const known = fields.flatMap(({ read, ...field }) => (read === null ? [] : [{ ...field, read }]));
  return known.length === fields.length && fields.every(({ key }) => isPlain(key))
    ? objectReader(known)
    : null;
}

function compileArray({ element, checks = [] }: Definition, options: CompileOptions): Read | null {
  const read = compileReader(element!, options);
  const asked = checks.map((check) => check._zod.def);
  if (read === null || asked.some(({ check }) => check !== "min_length" && check !== "max_length"))
    return null;
  const least = Math.max(0, ...asked.map(({ minimum = 0 }) => minimum));
  const most = Math.min(...asked.map(({ maximum = Infinity }) => maximum));
  return listReader(read, least, most);
}
