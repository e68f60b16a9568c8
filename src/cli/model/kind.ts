/** A kind of the model as typed, and where it lives in the API. */
import { FairleadError } from "../../core/errors.ts";
import { Name } from "../../core/ids.ts";
import { MODEL_KINDS, RESOURCES, type ModelKind } from "../../core/model/resources.ts";

export function kindOf(word: string): ModelKind {
  const kind = MODEL_KINDS.find((each) => each === word || RESOURCES[each].plural === word);
  if (kind === undefined) throw new FairleadError("USAGE", `the model has no kind ${JSON.stringify(word)}`);
  return kind;
}

export function pathOf(kind: ModelKind, name: string): string {
  const parsed = Name.safeParse(name);
  if (!parsed.success)
    throw new FairleadError("USAGE", `${JSON.stringify(name)}: ${parsed.error.issues[0]!.message}`);
  return `${listPathOf(kind)}/${parsed.data}`;
}

export const listPathOf = (kind: ModelKind): string => `/api/v1/model/${RESOURCES[kind].plural}`;
