/** YAML from people: bounded, without alias bombs, and every complaint points at a line and a column. */
import { LineCounter, parseDocument, isNode, type Document } from "yaml";
import type { z } from "zod";
import type { ErrorCode } from "../core/error-codes.ts";
import { FairleadError } from "../core/errors.ts";

export function parseYaml<T extends z.ZodType>(
  bytes: Uint8Array,
  schema: T,
  code: ErrorCode,
  file: string,
): z.infer<T> {
  const lines = new LineCounter();
  const text = new TextDecoder("utf-8").decode(bytes);
  const document = parseDocument(text, {
    lineCounter: lines,
    strict: true,
    uniqueKeys: true,
    maxAliasCount: 0,
  } as never);
  const at = (offset: number | undefined) => {
    const { line, col } = lines.linePos(offset ?? 0);
    return { file, line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const broken = document.errors[0];
  if (broken !== undefined) throw complaint(code, broken.message.split("\n")[0]!, at(broken.pos[0]));
  const parsed = schema.safeParse(toPlain(document, code, at));
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  const where = issue.path.join(".") || "the document";
  throw complaint(code, `${where}: ${issue.message}`, at(offsetOf(document, issue.path)));
}

interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

function toPlain(document: Document, code: ErrorCode, at: (offset: number | undefined) => Place): unknown {
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch (error) {
    throw complaint(code, error instanceof Error ? error.message : "cannot be read", at(0));
  }
}

/** The deepest node on the way to the field that exists: a missing field is reported where its parent stands. */
function offsetOf(document: Document, path: readonly PropertyKey[]): number | undefined {
  for (let length = path.length; length >= 0; length--) {
    const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return undefined;
}

const complaint = (code: ErrorCode, message: string, place: Place): FairleadError =>
  new FairleadError(code, `${place.file}:${place.line}:${place.column}: ${message}`, { ...place });
