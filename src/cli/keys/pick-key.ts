/** From what an operator typed to the one key meant: its name, its id, or the first 4 or more of its id. */
import { FairleadError } from "../../core/errors.ts";
import { KeyList, type KeyView } from "../../core/protocol/keys-api.ts";
import type { Api } from "../api.ts";

const PREFIX = /^[0-9a-f]{4,64}$/;

export async function pickKey(api: Api, text: string): Promise<KeyView> {
  const { keys } = await api.get("/api/v1/keys", KeyList);
  const gone = (key: KeyView) => key.state === "retired" || key.state === "revoked";
  const named = keys.filter((key) => key.name === text);
  const live = named.filter((key) => !gone(key));
  const byId = PREFIX.test(text) ? keys.filter((key) => key.key_id.startsWith(text)) : [];
  const found = byId.length > 0 ? byId : live.length > 0 ? live : named;
  const [first] = found;
  if (first === undefined)
    throw new FairleadError(
      "NOT_FOUND",
      `no key is named ${JSON.stringify(text)}: see \`fairlead keys list\``,
    );
  if (found.length === 1) return first;
  const candidates = found.map(
    (key) => `${key.authority} ${key.name} (${key.key_id.slice(0, 12)}, ${key.state})`,
  );
  throw new FairleadError(
    "INVALID_INPUT",
    `${JSON.stringify(text)} could be ${found.length} keys: ${candidates.join(", ")}`,
    { candidates },
  );
}
