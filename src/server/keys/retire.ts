/** The first half of retiring a key: from here on its deadline runs. It leaves with a bundle that lists it no more. */
import { shortKey, stepTo } from "../../core/keys/standing.ts";
import { FairleadError } from "../../core/errors.ts";
import type { KeyId } from "../../core/ids.ts";
import type { Transaction } from "../db/database.ts";
import { appendEvents } from "../events/append.ts";
import { KEYS_CHANNEL, readKeys, standingOf, writeSteps } from "./rows.ts";

export async function beginRetirement(
  tx: Transaction,
  id: KeyId,
  retireBy: number,
  actor: string,
): Promise<void> {
  const key = (await readKeys(tx)).map(standingOf).find(({ key_id }) => key_id === id);
  if (key === undefined) throw new FairleadError("NOT_FOUND", `there is no key ${shortKey(id)}`);
  if (key.state === "retiring" || key.state === "introduced") return;
  const proposed = key.state === "proposed";
  const isSigning = key.authority === "online" && key.state === "active";
  const step = isSigning
    ? null
    : stepTo(key, [proposed ? "retired" : "retiring"], proposed ? null : retireBy);
  if (step === null)
    throw new FairleadError(
      "KEY_STATE",
      isSigning
        ? `key ${shortKey(id)} is the active online key: promote another one first`
        : `key ${shortKey(id)} is ${key.state}: it cannot be retired`,
      { key_id: id },
    );
  await writeSteps(tx, [step], actor);
  await appendEvents(tx, [
    { kind: `key.${step.to}`, actor, data: { key: shortKey(id), authority: key.authority } },
  ]);
  await tx`select pg_notify(${KEYS_CHANNEL}, '')`;
}
