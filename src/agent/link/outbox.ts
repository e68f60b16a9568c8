/**
 * Reports that must arrive: on disk until the server has stored them, sent in order, again after a lost connection.
 * Progress and waiting are news: kept in memory until the server has stored them, because a restarted agent tells them
 * anew. A report that the disk refuses is sent from memory.
 *
 * 1. A report that the server does not accept must not block those behind it: after such a refusal reports are sent one
 *    by one, and the refused one goes to the end of the queue. It is kept: a newer server may accept it. News that is
 *    refused alone is dropped.
 * 2. News has a bound. Beyond it the oldest goes for which the same command has newer news.
 * 3. A report is done with when the server has answered it: stored, or why not. One without an answer is sent again.
 */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import { UpgradeReport, type Heartbeat, type ReceivedAnswers } from "../../core/protocol/agent-api.ts";
import type { CommandId } from "../../core/ids.ts";
import { withStorableText } from "../../core/text.ts";
import { sleep, type Clock } from "../../host/clock.ts";
import { type FileSystemPort, nodeFileSystem } from "../../host/file-system-port.ts";
import { ensureDirectory, readJsonIfThere, writeJsonDurable } from "../../host/files.ts";
import type { Logger } from "../../host/log.ts";
import type { Link } from "./link.ts";

const REPORTS_PER_SEND = 50;
const NEWS_MAX = 200;
const RETRY_MS_MIN = 200;
const RETRY_MS_MAX = 10_000;

/** Reports that an older agent wrote may hold text that the server cannot store. */
const OutboxFile = z.preprocess(withStorableText, z.array(UpgradeReport));

export interface OutboxDeps {
  readonly folder: string;
  readonly link: () => Link;
  readonly heartbeat: () => Promise<Heartbeat>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly fs?: FileSystemPort;
}

const idsOf = ({ answers }: ReceivedAnswers): Set<string> =>
  new Set(answers.map(({ report_id }) => report_id));

export type Outbox = Awaited<ReturnType<typeof openOutbox>>;

export async function openOutbox({
  folder: parent,
  link,
  heartbeat,
  clock,
  log,
  fs = nodeFileSystem,
}: OutboxDeps) {
  const folder = join(parent, "outbox");
  await ensureDirectory(folder, 0o700, fs);
  const path = join(folder, "reports.json");
  let kept = (await readJsonIfThere(path, OutboxFile, fs)) ?? [];
  let news: UpgradeReport[] = [];
  let ring: () => void = () => {};
  let saving = Promise.resolve();
  let perSend = REPORTS_PER_SEND;
  /** The reports of the newest send. */
  let inFlight: readonly UpgradeReport[] = [];
  const onDelivery = new Map<string, () => void>();

  /** One write after the other, each with what is kept when its turn comes; one that failed stops none after it. */
  function save(): Promise<void> {
    const write = (): Promise<void> => writeJsonDurable(path, kept, { mode: 0o600, fs });
    saving = saving.then(write, write);
    return saving;
  }

  const reportOf = (command_id: CommandId, body: UpgradeReport["body"]): UpgradeReport => ({
    report_id: randomUUID(),
    command_id,
    at: new Date(clock.now()).toISOString(),
    body,
  });

  async function sendSome(signal: AbortSignal): Promise<void> {
    const reports = [...news, ...kept].slice(0, perSend);
    inFlight = reports;
    const verdict = reports.some((report) => report.body.kind === "verdict");
    const answered = await link().report({ reports, heartbeat: verdict ? await heartbeat() : null }, signal);
    const sent = answered === null ? new Set(reports.map(({ report_id }) => report_id)) : idsOf(answered);
    for (const { report_id, outcome, reason } of answered?.answers ?? [])
      if (outcome === "unknown_command") log.warn("report about an unknown command", { report_id, reason });
    if (!reports.some(({ report_id }) => sent.has(report_id)))
      throw new FairleadError("UNREACHABLE", "the server answered none of the reports"); // (3)
    news = news.filter((report) => !sent.has(report.report_id));
    const before = kept.length;
    const left = kept.filter((report) => !sent.has(report.report_id));
    const isUnanswered = (report: UpgradeReport): boolean => reports.includes(report);
    kept = [...left.filter((report) => !isUnanswered(report)), ...left.filter(isUnanswered)];
    for (const id of sent) {
      onDelivery.get(id)?.();
      onDelivery.delete(id);
    }
    if (kept.length !== before) await save();
    perSend = Math.min(perSend * 2, REPORTS_PER_SEND);
  }

  /** (1) */
  function passOver(error: unknown): void {
    if (!(error instanceof FairleadError) || error.code !== "INVALID_INPUT") return;
    const [only, ...others] = inFlight;
    if (only !== undefined && others.length === 0) {
      const isRefused = ({ report_id }: UpgradeReport): boolean => report_id === only.report_id;
      kept = [...kept.filter((report) => !isRefused(report)), ...kept.filter(isRefused)];
      news = news.filter((report) => !isRefused(report));
    }
    perSend = 1;
  }

  return {
    /** `unwritten`: the disk refuses the report. It is sent all the same, and `delivered` is called then. */
    async add(
      commandId: CommandId,
      body: UpgradeReport["body"],
      delivered: () => void = () => undefined,
    ): Promise<"written" | "unwritten"> {
      const report = reportOf(commandId, body);
      kept = [...kept, report];
      onDelivery.set(report.report_id, delivered);
      try {
        await save();
        return "written";
      } catch (error) {
        log.error("report not written; sending from memory", { command_id: commandId, error });
        return "unwritten";
      } finally {
        ring();
      }
    },
    /** How many reports the server has not stored yet. */
    waiting: (): number => kept.length,
    tell(commandId: CommandId, body: UpgradeReport["body"]): void {
      news = bounded([...news, reportOf(commandId, body)]);
      ring();
    },
    async run(signal: AbortSignal): Promise<void> {
      let retryMs = RETRY_MS_MIN;
      while (!signal.aborted) {
        const rung = new Promise<void>((resolve) => {
          ring = resolve;
          signal.addEventListener("abort", () => resolve(), { once: true });
        });
        if (news.length + kept.length === 0) await rung;
        if (signal.aborted) return;
        try {
          await sendSome(signal);
          retryMs = RETRY_MS_MIN;
        } catch (error) {
          if (signal.aborted) return;
          log.warn("reports not delivered", { waiting: kept.length + news.length, error: String(error) });
          passOver(error);
          await sleep(retryMs, signal);
          retryMs = Math.min(retryMs * 2, RETRY_MS_MAX);
        }
      }
    },
  };
}

/** (2) */
function bounded(news: readonly UpgradeReport[]): UpgradeReport[] {
  const outdated = (at: number): boolean =>
    news.slice(at + 1).some(({ command_id }) => command_id === news[at]!.command_id);
  if (news.length <= NEWS_MAX) return [...news];
  const oldest = Math.max(
    0,
    news.findIndex((_, at) => outdated(at)),
  );
  return news.toSpliced(oldest, 1);
}
