import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Link } from "../../../src/agent/link/link.ts";
import { openOutbox } from "../../../src/agent/link/outbox.ts";
import { FairleadError } from "../../../src/core/errors.ts";
import { CommandId } from "../../../src/core/ids.ts";
import { systemClock } from "../../../src/host/clock.ts";
import { silentLogger } from "../../../src/host/log.ts";
import { systemError, trippingFileSystem } from "../../support/programs/tripping-file-system.ts";
import { PROFILE } from "../../support/trust.ts";
import { until } from "../../support/programs/until.ts";

let folder: string;
let sent: string[];
let isFull: boolean;
let unacceptable: string | null;
let isAway: boolean;
let failures: number;
let onRefusal: () => void;
/** The outcome that the server answers for a report about this command; null: it leaves the report out. */
let answer: ((command: CommandId) => string | null) | null;
let warnings: Record<string, unknown>[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "fairlead-outbox-"));
  sent = [];
  isFull = false;
  unacceptable = null;
  [isAway, failures] = [false, 0];
  onRefusal = () => undefined;
  answer = null;
  warnings = [];
});
afterEach(async () => rm(folder, { recursive: true, force: true }));

const REFUSAL = {
  kind: "refused",
  rejection: {
    code: "INTENT_EXPIRED",
    subject: "an intent",
    reason: "too late",
    at: "2026-01-01T00:00:00.000Z",
  },
} as const;
const PROGRESS = { kind: "waiting", waiting_for: PROFILE, jobs_ahead: 1 } as const;
const command = (): CommandId => CommandId.parse(randomUUID());

const opened = async () =>
  openOutbox({
    folder,
    link: () =>
      ({
        report: async ({ reports }) => {
          const ids = reports.map(({ command_id }) => command_id as string);
          if (isAway) throw new FairleadError("UNREACHABLE", "no answer");
          if (unacceptable !== null && ids.includes(unacceptable)) {
            setImmediate(onRefusal); // behind the drop of what was queued
            throw new FairleadError("INVALID_INPUT", "body.reports.0: not valid");
          }
          sent.push(...ids);
          if (answer === null) return null;
          const answers = reports.flatMap(({ report_id, command_id }) => {
            const outcome = answer!(command_id);
            return outcome === null ? [] : [{ report_id, outcome, reason: `it is ${outcome}` }];
          });
          return { answers };
        },
      }) as Partial<Link> as Link,
    heartbeat: async () => {
      throw new Error("nobody asks for it");
    },
    clock: systemClock,
    log: {
      ...silentLogger,
      warn: (message, fields) => {
        failures += 1;
        warnings.push({ message, ...fields });
      },
    },
    fs: trippingFileSystem((operation) => {
      if (isFull && operation.startsWith("write ")) throw systemError("ENOSPC");
    }),
  });
const onDisk = async (): Promise<string[]> =>
  (
    JSON.parse(await readFile(join(folder, "outbox", "reports.json"), "utf8")) as { command_id: string }[]
  ).map(({ command_id }) => command_id);

test("ROLL-6: one write that failed stops none after it, and the next one holds both reports", async () => {
  const outbox = await opened();
  const [first, second] = [command(), command()];
  isFull = true;
  expect(await outbox.add(first, REFUSAL)).toBe("unwritten");
  isFull = false;
  expect(await outbox.add(second, REFUSAL)).toBe("written");
  expect(await onDisk()).toEqual([first, second]);
});

test("ROLL-6: a report that could not be written is sent all the same", async () => {
  const outbox = await opened();
  const leaving = new AbortController();
  const running = outbox.run(leaving.signal);
  const id = command();
  isFull = true;
  let delivered = false;
  expect(await outbox.add(id, REFUSAL, () => void (delivered = true))).toBe("unwritten");
  await until("it is sent", () => sent.includes(id));
  await until("its sender hears of the delivery", () => delivered);
  leaving.abort();
  await running;
});

test("ROLL-6: a report that the server does not accept is kept, and the reports behind it are sent", async () => {
  const outbox = await opened();
  const [bad, second, third] = [command(), command(), command()];
  for (const id of [bad, second, third]) await outbox.add(id, REFUSAL);
  unacceptable = bad;
  const leaving = new AbortController();
  const running = outbox.run(leaving.signal);
  await until("the others are sent", () => sent.includes(second) && sent.includes(third));
  await until("they are off the disk", async () => (await onDisk()).length === 1);
  expect(await onDisk()).toEqual([bad]);
  unacceptable = null; // a newer server
  await until("it is sent as well", () => sent.includes(bad));
  leaving.abort();
  await running;
});

test("ROLL-6: progress that the server does not accept leaves the kept reports in their order", async () => {
  const outbox = await opened();
  const [first, second, third, progress] = [command(), command(), command(), command()];
  for (const id of [first, second, third]) await outbox.add(id, REFUSAL);
  unacceptable = progress;
  let refusals = 0;
  onRefusal = () => void (refusals += 1); // with the others, then alone
  const leaving = new AbortController();
  outbox.tell(progress, PROGRESS);
  const running = outbox.run(leaving.signal);
  await until("everything that is kept is sent", () => sent.length === 3);
  leaving.abort();
  await running;
  expect([refusals, sent]).toEqual([2, [first, second, third]]);
});

test("ROLL-6: a stored report with a NUL in its text does not keep the agent from its outbox", async () => {
  const id = command();
  const rejection = { ...REFUSAL.rejection, reason: "half \ud800, and a \0" };
  const at = rejection.at;
  const report = { report_id: randomUUID(), command_id: id, at, body: { ...REFUSAL, rejection } };
  await mkdir(join(folder, "outbox"));
  await writeFile(join(folder, "outbox", "reports.json"), JSON.stringify([report]));
  const outbox = await opened();
  const leaving = new AbortController();
  const running = outbox.run(leaving.signal);
  await until("it is sent", () => sent.includes(id));
  leaving.abort();
  await running;
});

test("ROLL-28: news that was told while the server is away is told again until the server has it, in its order", async () => {
  const outbox = await opened();
  const [waiting, progress, verdict] = [command(), command(), command()];
  isAway = true;
  const leaving = new AbortController();
  const running = outbox.run(leaving.signal);
  outbox.tell(waiting, PROGRESS);
  await until("a send failed", () => failures > 0);
  outbox.tell(progress, PROGRESS);
  await outbox.add(verdict, REFUSAL);
  const before = failures;
  await until("it failed again", () => failures > before);
  isAway = false;
  await until("all are sent", () => sent.includes(verdict));
  expect(sent).toEqual([waiting, progress, verdict]);
  leaving.abort();
  await running;
});

test("ROLL-28: of more news than is kept while the server is away, the newest of each command stays", async () => {
  const outbox = await opened();
  const [quiet, busy] = [command(), command()];
  outbox.tell(quiet, PROGRESS);
  for (let told = 0; told < 500; told += 1) outbox.tell(busy, PROGRESS);
  const leaving = new AbortController();
  const running = outbox.run(leaving.signal);
  await until("both are sent", () => sent.includes(quiet) && sent.includes(busy));
  leaving.abort();
  await running;
  expect(sent.length).toBeLessThan(300);
});

test("ROLL-29: a report that the server answers with a reason is done with, and the reason is logged", async () => {
  const outbox = await opened();
  const [known, unknown] = [command(), command()];
  for (const id of [known, unknown]) await outbox.add(id, REFUSAL);
  answer = (id) => (id === unknown ? "unknown_command" : "stored");
  const leaving = new AbortController();
  const running = outbox.run(leaving.signal);
  await until("nothing is kept", async () => (await onDisk()).length === 0);
  leaving.abort();
  await running;
  expect(sent).toEqual([known, unknown]);
  expect(warnings).toMatchObject([
    { message: "report about an unknown command", reason: "it is unknown_command" },
  ]);
});

test("ROLL-29: a report that the server leaves unanswered is kept and sent again, behind the others", async () => {
  const outbox = await opened();
  const [left, other] = [command(), command()];
  for (const id of [left, other]) await outbox.add(id, REFUSAL);
  answer = (id) => (id === left ? null : "stored");
  const leaving = new AbortController();
  const running = outbox.run(leaving.signal);
  await until("it is sent a second time", () => sent.filter((id) => id === left).length >= 2);
  expect(await onDisk()).toEqual([left]);
  answer = () => "an outcome of a newer server";
  await until("it is done with", async () => (await onDisk()).length === 0);
  leaving.abort();
  await running;
  expect(sent.filter((id) => id === other)).toHaveLength(1);
});
