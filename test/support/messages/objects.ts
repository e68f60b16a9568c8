/** The objects of a schema, at every depth, with where they stand and whether they refuse a key that they do not know. */
import type { z } from "zod";

export interface FoundObject {
  readonly path: string;
  readonly isStrict: boolean;
}

interface Def {
  readonly type: string;
  readonly catchall?: z.ZodType;
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly innerType?: z.ZodType;
  readonly element?: z.ZodType;
  readonly valueType?: z.ZodType;
  readonly options?: readonly z.ZodType[];
  readonly in?: z.ZodType;
  readonly out?: z.ZodType;
  readonly getter?: () => z.ZodType;
}

export function objectsOf(schema: z.ZodType, path = "", seen = new Set<z.ZodType>()): FoundObject[] {
  if (seen.has(schema)) return [];
  seen.add(schema);
  const def: Def = schema.def;
  const inside = (inner: z.ZodType | undefined, name = "") =>
    inner === undefined ? [] : objectsOf(inner, name === "" ? path : `${path}.${name}`, new Set(seen));
  const found = [
    ...inside(def.innerType),
    ...inside(def.element, "[]"),
    ...inside(def.valueType, "*"),
    ...inside(def.in),
    ...inside(def.out),
    ...inside(def.getter?.()),
    ...(def.options ?? []).flatMap((option) => inside(option)),
    ...Object.entries(def.shape ?? {}).flatMap(([key, field]) => inside(field, key)),
  ];
  if (def.type !== "object") return found;
  return [{ path, isStrict: def.catchall?.def.type === "never" }, ...found];
}
