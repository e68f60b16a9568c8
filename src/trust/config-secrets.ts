/**
 * Raw secrets in config files (SNAP-5): looked for before a file is named in an intent, and once more on the node before
 * it is written.
 *
 * 1. A reference says where a secret is kept and is none: `secret://…`, `${NAME}` or `$NAME` as the whole value.
 * 2. A file that is JSON is searched as JSON, where names and values are told apart; any other as text.
 */
import { FairleadError } from "../core/errors.ts";
import type { Digest } from "../core/ids.ts";
import type { Json } from "../core/json.ts";
import { digestOf } from "./digest.ts";
import { findSecret, secretInText } from "./find-secret.ts";
import { parseBounded } from "./strict-json.ts";

export interface ConfigFile {
  readonly path: string;
  readonly content: string;
}

/** The names of files and the way they are checked, for the layer that renders them. */
export const configSeal = {
  digestOf: (content: string): Digest => digestOf(content),
  refuseSecret: refuseSecretIn,
};

export function refuseSecretIn({ path, content }: ConfigFile): void {
  const looksLike = secretInConfig(content);
  if (looksLike === null) return;
  const line = content.split("\n").findIndex((text) => secretInConfig(text) !== null) + 1;
  const where = line === 0 ? path : `${path}, line ${line}`;
  throw new FairleadError("CONFIG_SECRET_FOUND", `${where}: it looks like ${looksLike}`, {
    path,
    ...(line === 0 ? {} : { config_line: line }),
  });
}

function secretInConfig(content: string): string | null {
  const inJson = content.replaceAll(JSON_REFERENCE, '"_":0');
  const json = jsonIn(inJson);
  if (json === null) return secretInText(content.replaceAll(REFERENCE, "")); // (1)
  // As text too: of two fields with one name, parsing keeps the last.
  return findSecret(json)?.looksLike ?? secretInText(inJson); // (2)
}

const REFERRED = String.raw`secret:\/\/[A-Za-z0-9._/-]+|\$\{\w+\}|\$\w+`;
/** A name with a reference, or nothing, as its whole value, up to the end of the line or a comment. */
const REFERENCE = new RegExp(
  String.raw`(?<![\w.-])["']?(?<![\w.-])[\w.-]+["']?[ \t]*[:=][ \t]*(?:(["']?)(?:${REFERRED})\1|""|'')(?=[ \t]*[,;}\]]?[ \t]*(?:#|$))`,
  "gm",
);
/** No name begins at an escaped quote: without the lookbehind each one would be searched to the end of its string. */
const JSON_REFERENCE = new RegExp(String.raw`(?<!\\)"(?:[^"\\]|\\.)*"\s*:\s*"(?:${REFERRED})?"`, "g");

function jsonIn(content: string): Json {
  if (!/^\s*[[{]/.test(content)) return null;
  try {
    return parseBounded(Buffer.from(content));
  } catch (error) {
    if (error instanceof FairleadError) return null;
    throw error;
  }
}
