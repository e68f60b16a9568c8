/**
 * A poll's answer, put together within what an agent reads (SNAP-13).
 *
 * 1. The trust bundle comes first, then what the node is: everything after it is checked against those.
 * 2. The answer as a whole fits `LIMITS.pollAnswerBytesMax`. Frames that do not fit come with the next poll, which the
 *    agent sends at once after an answer that brought something. The first frame always fits.
 * 3. Head, commands and empty intents come with the last part: a head names versions that the node would miss otherwise,
 *    and a command is checked against all of them.
 */
import { LIMITS } from "../../core/limits.ts";
import type { PollResponse } from "../../core/protocol/agent-api.ts";
import type { SnapshotRow } from "./snapshot-rows.ts";

type Tail = Pick<PollResponse, "head" | "commands" | "void_intents">;

export interface PutTogether {
  /** Null: nothing waits. */
  readonly answer: PollResponse | null;
  /** Something is left for the next poll. */
  readonly isCut: boolean;
}

/** Quotes and a comma around each text, and the names of the lists. */
const PER_TEXT_BYTES = 3;
const AROUND_BYTES = 1024;
const NOTHING: Tail = { head: null, commands: [], void_intents: [] };

export function putTogether(
  rows: readonly SnapshotRow[],
  bundles: readonly string[],
  tail: Tail,
  bytesMax = LIMITS.pollAnswerBytesMax,
): PutTogether {
  let left = bytesMax - AROUND_BYTES;
  let count = 0;
  /** Null from the first on that does not fit: what comes after it may rest on it. */
  const fitting = (text: () => string): string | null => {
    if (left < 0) return null;
    const made = text();
    left -= made.length + PER_TEXT_BYTES;
    count += 1;
    return left < 0 && count > 1 ? null : made; // (2)
  };
  const snapshots = [
    ...bundles.map((frame) => () => frame),
    ...inOrder(rows.filter((row) => row.handed === "full")).map(encoded),
  ].map(fitting);
  const increments = rows
    .filter((row) => row.handed === "increment")
    .map(encoded)
    .map(fitting);
  const frames = { snapshots: present(snapshots), increments: present(increments) };
  const sent = frames.snapshots.length + frames.increments.length;
  const isAll = sent === snapshots.length + increments.length;
  const isWhole = isAll && (sent === 0 || sizeOf(tail) <= left); // (3)
  const answer = { ...frames, ...(isWhole ? tail : NOTHING) };
  return { answer: isEmpty(answer) ? null : answer, isCut: !isWhole };
}

const encoded = (row: SnapshotRow) => (): string => row.frame().toString("base64");

/** Invariant 1. */
const inOrder = (rows: readonly SnapshotRow[]): SnapshotRow[] => [
  ...rows.filter((row) => row.scope === "node_bootstrap"),
  ...rows.filter((row) => row.scope !== "node_bootstrap"),
];

const present = (texts: readonly (string | null)[]): string[] => texts.filter((text) => text !== null);

const sizeOf = ({ head, commands, void_intents }: Tail): number =>
  (head?.length ?? 0) + JSON.stringify(commands).length + JSON.stringify(void_intents).length;

const isEmpty = ({ snapshots, increments, head, commands, void_intents }: PollResponse): boolean =>
  head === null && snapshots.length + increments.length + commands.length + void_intents.length === 0;
