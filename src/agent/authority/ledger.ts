/**
 * What this node has been told, so that nothing is done twice (SNAP-16).
 *
 * 1. The mark, the command's fate and the job it became are one durable write.
 * 2. Writes follow one another, each on what the one before it left: the runner concludes while commands arrive.
 * 3. Serials and attempts are remembered per profile for as long as the node lives.
 * 4. A job is pending while its permit exists. Its end removes the permit first: an unlink needs no space on a full disk,
 *    so that a job that has ended is not run again after a restart.
 * 5. A job that has ended leaves with the next successful write, whichever that is.
 */
import { join } from "node:path";
import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import { CommandId, Digest, ProfileId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { CommandDelivery, type Rejection } from "../../core/protocol/agent-api.ts";
import { KeptRejection } from "../kept-rejection.ts";
import { UpgradeJob } from "../../core/upgrade/job.ts";
import { removeDurable, writeDurable } from "../../host/durable-write.ts";
import { type FileSystemPort, nodeFileSystem } from "../../host/file-system-port.ts";
import { ensureDirectory, readJsonIfThere, writeJsonDurable } from "../../host/files.ts";
import { digestOf } from "../../trust/digest.ts";

/** Far more than a server ever has under way for one node. */
const REMEMBERED_COMMANDS = 32;

/** For each program a job at work and one behind it: a reverse can come before its forward is concluded. */
const PENDING_MAX = 2 * LIMITS.nodeProfilesMax;

const Remembered = z.object({ command_id: CommandId, digest: Digest, rejection: KeptRejection });
export type Remembered = z.infer<typeof Remembered>;

const ProfileLedger = z.object({
  serial: z.int().min(0),
  intent_digest: Digest.nullable(),
  /** `{intent digest}.{direction}.{attempt}` of the newest intent; an older intent is refused by its serial. */
  ran: z.array(z.string().max(200)).max(10_000),
});
export type ProfileLedger = z.infer<typeof ProfileLedger>;

const PendingJob = z.object({
  job: UpgradeJob,
  /** As it was signed, so that it can be verified again before the job begins. Null: accepted by an older agent. */
  delivery: CommandDelivery.nullable().default(null),
});
export type PendingJob = z.infer<typeof PendingJob>;

const LedgerFile = z.object({
  mark: z.int().min(0),
  commands: z.array(Remembered).max(REMEMBERED_COMMANDS),
  profiles: z.record(ProfileId, ProfileLedger),
  /** Accepted and not yet concluded, in order: taken up again after a restart. */
  pending: z.array(PendingJob).max(PENDING_MAX),
  /** The newest command that was accepted for each profile. */
  newest: z.record(ProfileId, z.int().min(0)).default({}),
  last_rejection: KeptRejection,
});
type LedgerFile = z.infer<typeof LedgerFile>;

const EMPTY: LedgerFile = {
  mark: 0,
  commands: [],
  profiles: {},
  pending: [],
  newest: {},
  last_rejection: null,
};
const NOTHING_SEEN: ProfileLedger = { serial: 0, intent_digest: null, ran: [] };

export interface Acceptance {
  readonly sequence: number;
  readonly pending: PendingJob;
  readonly intent: { readonly serial: number; readonly digest: Digest } | null;
}

export type Ledger = Awaited<ReturnType<typeof openLedger>>;

export async function openLedger(dataDir: string, fs: FileSystemPort = nodeFileSystem) {
  const folder = join(dataDir, "authority");
  await ensureDirectory(folder, 0o700, fs);
  const path = join(folder, "ledger.json");
  const permits = join(folder, "permits");
  await ensureDirectory(permits, 0o700, fs);
  const permitOf = (id: CommandId): string => join(permits, id);
  let state = await readLedger(path, permits, fs);
  let saving: Promise<void> = Promise.resolve();
  const ended = new Set<CommandId>();

  const withoutEnded = (before: LedgerFile): LedgerFile =>
    ended.size === 0
      ? before
      : { ...before, pending: before.pending.filter(({ job }) => !ended.has(job.command_id)) };

  /** `first` has its turn with the edit: changes that come at once keep the order in which they were asked for. */
  function change(
    edit: (state: LedgerFile) => Partial<LedgerFile>,
    first: () => Promise<void> = async () => undefined,
  ): Promise<void> {
    const saved = saving.then(async () => {
      await first();
      const before = withoutEnded(state); // (5)
      const changed = { ...before, ...edit(before) };
      await writeJsonDurable(path, changed, { mode: 0o600, fs });
      state = changed;
    });
    saving = saved.catch(() => undefined); // whoever asked for it hears of it
    return saved; // (2)
  }
  const remember = (
    { commands }: LedgerFile,
    frame: Uint8Array,
    command_id: CommandId,
    rejection: Rejection | null,
  ): Remembered[] =>
    [...commands, { command_id, digest: digestOf(frame), rejection }].slice(-REMEMBERED_COMMANDS);

  return {
    mark: () => state.mark,
    /** What to go on with after a restart, the oldest first. */
    pending: (): readonly PendingJob[] => withoutEnded(state).pending,
    /** The highest sequence that was accepted for a profile; 0 before the first. */
    newest: (id: ProfileId): number => (Object.hasOwn(state.newest, id) ? state.newest[id]! : 0),
    lastRejection: () => state.last_rejection,
    profile: (id: ProfileId): ProfileLedger => profileIn(state, id),
    serials: (): Record<ProfileId, number> =>
      Object.fromEntries(Object.entries(state.profiles).map(([id, { serial }]) => [id, serial])),
    /** The same bytes came before: their fate is known, and `newest` when nothing came after them. */
    find: (frame: Uint8Array): (Remembered & { newest: boolean }) | undefined => {
      const digest = digestOf(frame);
      const found = state.commands.find((command) => command.digest === digest);
      return found && { ...found, newest: found === state.commands.at(-1) };
    },
    accept(frame: Uint8Array, { sequence, pending, intent }: Acceptance): Promise<void> {
      const { job } = pending;
      const edit = (before: LedgerFile) => {
        if (before.pending.length >= PENDING_MAX)
          throw new FairleadError("NOT_READY", `${PENDING_MAX} jobs wait on this node already`);
        return {
          mark: Math.max(before.mark, sequence),
          pending: [...before.pending, pending],
          commands: remember(before, frame, job.command_id, null),
          newest: { ...before.newest, [job.chain_profile_id]: sequence },
          profiles: {
            ...before.profiles,
            ...(intent === null ? {} : { [job.chain_profile_id]: seenBy(before, job, intent) }),
          },
        };
      };
      return change(edit, () => writeDurable(permitOf(job.command_id), "", { fs })); // (4)
    },
    /** `known` is null when the command could not even be believed: then the mark stays. */
    reject: (
      frame: Uint8Array,
      known: { command_id: CommandId; sequence: number } | null,
      rejection: Rejection,
    ): Promise<void> =>
      change((before) => {
        if (known === null) return { last_rejection: rejection };
        return {
          mark: Math.max(before.mark, known.sequence),
          commands: remember(before, frame, known.command_id, rejection),
          last_rejection: rejection,
        };
      }),
    /** An operator called off what he signed: lower serials are refused from now on. */
    outdate: (id: ProfileId, { serial, digest }: { serial: number; digest: Digest }): Promise<void> =>
      change((before) => {
        if (serial <= profileIn(before, id).serial) return {};
        return { profiles: { ...before.profiles, [id]: { serial, intent_digest: digest, ran: [] } } };
      }),
    noteRejection: (rejection: Rejection) => change(() => ({ last_rejection: rejection })),
    async conclude(commandId: CommandId): Promise<void> {
      ended.add(commandId);
      try {
        await removeDurable(permitOf(commandId), fs); // (4)
      } finally {
        await change(() => ({})); // (5)
      }
    },
  };
}

async function readLedger(path: string, permits: string, fs: FileSystemPort): Promise<LedgerFile> {
  const state = (await readJsonIfThere(path, LedgerFile, fs)) ?? EMPTY;
  const permitted = new Set(await fs.readdir(permits));
  const isPending = ({ job, delivery }: PendingJob) => delivery === null || permitted.has(job.command_id);
  const pending = state.pending.filter(isPending); // (4)
  const needed = new Set<string>(pending.map(({ job }) => job.command_id));
  // A permit without a job is what a crash before the ledger's write left. It permits nothing; removing it is tidiness.
  for (const name of permitted)
    if (!needed.has(name)) await removeDurable(join(permits, name), fs).catch(() => undefined);
  return { ...state, pending };
}

/** By its own name only: a profile may be called like a property that every object has. */
const profileIn = ({ profiles }: LedgerFile, id: ProfileId): ProfileLedger =>
  Object.hasOwn(profiles, id) ? profiles[id]! : NOTHING_SEEN;

/** Without an intent nothing is remembered: there is no serial, and the sequence alone keeps commands apart. */
function seenBy(
  state: LedgerFile,
  { chain_profile_id, direction, attempt }: UpgradeJob,
  { serial, digest }: NonNullable<Acceptance["intent"]>,
): ProfileLedger {
  const before = profileIn(state, chain_profile_id);
  const key = attemptKey(digest, direction, attempt);
  return {
    serial,
    intent_digest: digest,
    ran: before.intent_digest === digest ? [...before.ran, key] : [key],
  };
}

export const attemptKey = (intent: Digest, direction: string, attempt: number): string =>
  `${intent}.${direction}.${attempt}`;
