/**
 * The fields of a message, read from its schema: a field that is added later is found without being listed anywhere.
 * An example is the first candidate that the field's own schema accepts.
 */
import type { z } from "zod";

export type Path = readonly (string | number)[];

export interface Field {
  readonly path: Path;
  readonly kind: "string" | "number" | "other";
  readonly schema: z.ZodType;
}

const INSTANT = "2026-01-31T12:00:00.000Z";
const CANDIDATES: readonly unknown[] = [
  "0b6e8f0a-4a59-4d0c-9d53-1f0d3c6d2a11",
  INSTANT,
  `sha256:${"a".repeat(64)}`,
  "a".repeat(64),
  "a".repeat(32),
  "example",
  "an-example-of-sixteen-characters",
  1,
  true,
];

interface Def {
  readonly type: string;
  readonly innerType?: z.ZodType;
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly element?: z.ZodType;
  readonly keyType?: z.ZodType;
  readonly valueType?: z.ZodType;
  readonly options?: readonly z.ZodType[];
  readonly entries?: Readonly<Record<string, string>>;
  readonly values?: readonly unknown[];
}

const defOf = (schema: z.ZodType): Def => schema.def;
const WRAPPERS: ReadonlySet<string> = new Set(["optional", "nullable", "default"]);

/** Every form that a message can take: one for each option of each union in it. */
export function examplesOf(schema: z.ZodType): unknown[] {
  const def = defOf(schema);
  if (WRAPPERS.has(def.type)) return examplesOf(def.innerType!);
  switch (def.type) {
    case "object":
      return Object.entries(def.shape!).reduce<Record<string, unknown>[]>(
        (forms, [key, field]) => combine(forms, key, examplesOf(field)),
        [{}],
      );
    case "array":
      return examplesOf(def.element!).map((item) => [item]);
    case "record": {
      const [key] = examplesOf(def.keyType!);
      return examplesOf(def.valueType!).map((value) => ({ [String(key)]: value }));
    }
    case "union":
      return def.options!.flatMap(examplesOf);
    case "enum":
      return [Object.values(def.entries!)[0]];
    case "literal":
      return [def.values![0]];
    default: {
      const found = CANDIDATES.find((candidate) => schema.safeParse(candidate).success);
      if (found === undefined) throw new Error(`no candidate fits a ${def.type}`);
      return [found];
    }
  }
}

/** Each form of the field once, not each with each: the others stay at their first. */
function combine(
  forms: readonly Record<string, unknown>[],
  key: string,
  values: readonly unknown[],
): Record<string, unknown>[] {
  const [first, ...rest] = values;
  const base = forms.map((form) => ({ ...form, [key]: first }));
  return [...base, ...rest.map((value) => ({ ...base[0]!, [key]: value }))];
}

/** The leaves, and the keys of records as leaves of their own with the path of the record. */
export function fieldsOf(schema: z.ZodType, path: Path = []): Field[] {
  const def = defOf(schema);
  if (WRAPPERS.has(def.type)) return fieldsOf(def.innerType!, path);
  switch (def.type) {
    case "object":
      return Object.entries(def.shape!).flatMap(([key, field]) => fieldsOf(field, [...path, key]));
    case "array":
      return fieldsOf(def.element!, [...path, 0]);
    case "record": {
      const [key] = examplesOf(def.keyType!);
      return [...fieldsOf(def.keyType!, path), ...fieldsOf(def.valueType!, [...path, String(key)])];
    }
    case "union":
      return def.options!.flatMap((option) => fieldsOf(option, path));
    case "enum":
    case "literal":
    case "boolean":
      return [{ path, kind: "other", schema }];
    case "string":
      return [{ path, kind: "string", schema }];
    case "number":
      return [{ path, kind: "number", schema }];
    default:
      throw new Error(`${path.join(".")}: a ${def.type} is not understood`);
  }
}

/** A copy of the message with another value there; null where this form has no such place. */
export function replaced(message: unknown, [first, ...rest]: Path, value: unknown): unknown {
  if (first === undefined) return value;
  if (typeof message !== "object" || message === null || !Object.hasOwn(message, first)) return null;
  const inner = replaced((message as Record<string | number, unknown>)[first], rest, value);
  if (inner === null && rest.length > 0) return null;
  return Array.isArray(message)
    ? message.map((item: unknown, at) => (at === first ? inner : item))
    : { ...message, [first]: inner };
}
