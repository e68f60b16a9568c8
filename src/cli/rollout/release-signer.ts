/** The operator's release key, and the words said before it is used. */
import { FairleadError } from "../../core/errors.ts";
import { KeyList } from "../../core/protocol/keys-api.ts";
import type { Signer } from "../../trust/keys.ts";
import { readOwnSigner, readSigner, rsaAlgorithmIn } from "../operator-files.ts";
import { printable } from "../output.ts";
import type { Session } from "../session.ts";

const NAMES_SHOWN_MAX = 20;

/** Null when neither the call nor the context names one. */
export async function releaseSigner(
  file: string | undefined,
  { api, context }: Session,
): Promise<Signer | null> {
  const path = file ?? context.release_key_file;
  if (path === null) return null;
  const flag = file === undefined ? "release key" : "--release-key";
  const signer = await readOwnSigner(flag, path);
  if (signer.record.algorithm === "Ed25519") return signer;
  // A server that lies about the algorithm gets a signature that nobody believes, and nothing else.
  const { keys } = await api.get("/api/v1/keys", KeyList);
  return readSigner(flag, path, rsaAlgorithmIn(keys));
}

/** Where a key is all that is missing, say which one and where. */
export function explainKeyless(error: unknown, { name }: Session, keyless: boolean): unknown {
  if (!keyless || !(error instanceof FairleadError) || error.code !== "INTENT_REQUIRED") return error;
  const message = `${error.message}, and context ${name} has no release key: give --release-key FILE`;
  return new FairleadError(error.code, message, error.detail, error);
}

export function announcement(nodeNames: readonly string[], signer: Signer): string {
  const names = nodeNames.slice(0, NAMES_SHOWN_MAX).map(printable);
  const more = nodeNames.length > names.length ? `, and ${nodeNames.length - names.length} more` : "";
  const count = nodeNames.length === 1 ? "1 node" : `${nodeNames.length} nodes`;
  return `signing with release key ${signer.record.key_id.slice(0, 12)} for ${count}: ${names.join(", ")}${more}`;
}
