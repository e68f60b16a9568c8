/**
 * The state on disk, twice.
 *
 * 1. The file is replaced whole; the copy follows it. Killed between the two, the file is whole and newer.
 * 2. Both carry the digest of what they say: a damaged one is found out, and the other one serves.
 * 3. With both damaged nobody knows any more below which versions nothing may be taken: the agent does not guess.
 */
import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import { Digest } from "../../core/ids.ts";
import type { Json } from "../../core/json.ts";
import { writeJsonDurable, readJsonIfThere } from "../../host/files.ts";
import type { FileSystemPort } from "../../host/file-system-port.ts";
import { canonicalBytes } from "../../trust/canonical-json.ts";
import { digestOf } from "../../trust/digest.ts";
import type { Layout } from "./layout.ts";
import { EMPTY_STATE, State } from "./state.ts";

/** The digest is of what is written, also of keys that a newer agent wrote and this one does not know. */
const StateFile = z.object({ digest: Digest, state: z.json() });

const sealed = (state: Json) => ({ digest: digestOf(canonicalBytes(state)), state });

/** Codes: INVALID_INPUT when both copies are damaged. */
export async function readState({ state, stateCopy }: Layout, fs: FileSystemPort): Promise<State> {
  const first = await readSealed(state, fs);
  if (first.kind === "whole") return first.state;
  const second = await readSealed(stateCopy, fs);
  if (second.kind === "whole") return second.state;
  if (first.kind === "missing" && second.kind === "missing") return EMPTY_STATE;
  throw new FairleadError(
    "INVALID_INPUT",
    `${state} and its copy are damaged: move the folder away and enroll this node again`,
  ); // (3)
}

export async function writeState(layout: Layout, state: State, fs: FileSystemPort): Promise<void> {
  const file = sealed(state);
  for (const path of [layout.state, layout.stateCopy])
    await writeJsonDurable(path, file, { mode: 0o600, soleWriter: true, fs }); // (1)
}

type Read =
  | { readonly kind: "whole"; readonly state: State }
  | { readonly kind: "missing" }
  | { readonly kind: "damaged" };

async function readSealed(path: string, fs: FileSystemPort): Promise<Read> {
  try {
    const file = await readJsonIfThere(path, StateFile, fs);
    if (file === undefined) return { kind: "missing" };
    if (sealed(file.state).digest !== file.digest) return { kind: "damaged" }; // (2)
    const state = State.safeParse(file.state);
    return state.success ? { kind: "whole", state: state.data } : { kind: "damaged" };
  } catch (error) {
    if (error instanceof FairleadError && error.code === "INVALID_INPUT") return { kind: "damaged" };
    throw error;
  }
}
