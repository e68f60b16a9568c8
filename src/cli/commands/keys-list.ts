import { KeyList, type KeyView } from "../../core/protocol/keys-api.ts";
import type { Call, Result } from "../call.ts";
import { table } from "../output.ts";
import { withSession } from "../session.ts";

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const list = await api.get("/api/v1/keys", KeyList);
    const { keys, nodes, bundle } = list;
    const text = table(
      ["KEY", "AUTHORITY", "NAME", "STATE", "VALID UNTIL", "CONFIRMED", "NEXT"],
      keys.map((key) => [
        key.key_id.slice(0, 12),
        key.authority,
        key.name,
        stateOf(key),
        key.valid_until?.slice(0, 10) ?? "-",
        key.bundle_version === null ? "-" : `${key.confirmed_by} of ${nodes}`,
        key.next,
      ]),
    );
    const notes = bundle === null ? undefined : `trust bundle ${bundle.version} of epoch ${bundle.epoch}`;
    return { data: list, text, ...(notes === undefined ? {} : { notes }) };
  });

const stateOf = ({ state, retire_by }: KeyView): string =>
  retire_by === null ? state : `${state} by ${retire_by.slice(0, 16).replace("T", " ")}`;
