/** What every command that changes the trust bundle does: take the newest, change it, sign it, finish. */
import { z } from "zod";
import type { NodeId } from "../../core/ids.ts";
import type { BundleChange } from "../../trust/bundle-draft.ts";
import type { Call, Result } from "../call.ts";
import { count } from "../options.ts";
import { listNodes } from "../pages.ts";
import { pickNode } from "../resolve.ts";
import type { Session } from "../session.ts";
import { makeBundle } from "./draft.ts";
import { finish } from "./finish.ts";
import { BEHIND, newestBundle, type NewestBundle } from "./newest.ts";
import { rootSigners } from "./root-signers.ts";

/** Options that they share. */
export const ChangeOptions = {
  rootKey: z.array(z.string()),
  validDays: count(1, 36_500),
  out: z.string().optional(),
};
export type ChangeOptions = { rootKey: string[]; validDays: number; out?: string | undefined };

export interface ChangeWish {
  readonly options: ChangeOptions;
  readonly newest: NewestBundle;
  readonly changes: readonly BundleChange[];
  readonly at?: { readonly epoch: number; readonly version: number };
  readonly abandon?: readonly NodeId[];
  readonly reason?: string | undefined;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly next?: string;
}

export async function changeBundle(call: Call, session: Session, wish: ChangeWish): Promise<Result> {
  const { options, newest, changes, at, abandon = [], reason, data, next } = wish;
  const before = newest.bundle;
  const signers = await rootSigners("--root-key", options.rootKey, session.context.release_key_file, {
    ...before.content.root,
    keys: [...before.content.root.keys, ...arriving(changes)],
  });
  const bundle = makeBundle(
    { before, changes, validDays: options.validDays, signers, ...(at === undefined ? {} : { at }) },
    call.io,
  );
  const result = await finish(call, session, {
    bundle,
    before,
    abandon,
    reason,
    out: options.out,
    ...(data === undefined ? {} : { data }),
    ...(next === undefined ? {} : { next }),
  });
  if (!newest.serverIsBehind || at !== undefined) return result;
  return { ...result, notes: [result.notes, BEHIND].filter((note) => note !== undefined).join("\n") };
}

const arriving = (changes: readonly BundleChange[]) =>
  changes.flatMap((change) =>
    change.kind === "introduce" && change.authority === "root" ? [change.key] : [],
  );

export const openNewest = (call: Call, session: Session): Promise<NewestBundle> =>
  newestBundle(session, call.io);

export async function abandonedNodes(session: Session, names: readonly string[]): Promise<NodeId[]> {
  if (names.length === 0) return [];
  const nodes = await listNodes(session.api);
  return names.map((name) => pickNode(nodes, name).id);
}
