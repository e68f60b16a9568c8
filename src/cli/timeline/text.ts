/** The eight actions of an attempt, one line each, and why it ended as it did. */
import { nextOf } from "../../core/errors.ts";
import {
  ACTION_WORDS,
  type StepState,
  type TimelineStep,
  type UpgradeAttempt,
} from "../../core/upgrade/timeline.ts";
import { durationText } from "../duration.ts";
import { printable, table, type Paint } from "../output.ts";

const MARKS: Readonly<Record<StepState, readonly [mark: string, style: Parameters<Paint>[0]]>> = {
  done: ["✔", "green"],
  running: ["▶", "cyan"],
  failed: ["✗", "red"],
  not_reached: ["·", "dim"],
};

export const timelineText = (attempts: readonly UpgradeAttempt[], paint: Paint): string =>
  attempts.map((attempt) => attemptText(attempt, paint)).join("\n\n");

function attemptText(attempt: UpgradeAttempt, paint: Paint): string {
  const way = attempt.direction === "forward" ? "upgrade" : "way back";
  const rollout = attempt.rolloutId === null ? "" : ` in rollout ${attempt.rolloutId.slice(0, 8)}`;
  const took = attempt.endedAt === null ? "" : `, ${spanOf(attempt.startedAt, attempt.endedAt)}`;
  const head = `${way}${rollout}, began ${attempt.startedAt}${took}: ${attempt.status.replaceAll("_", " ")}`;
  return [paint("bold", head), stepTable(attempt.steps, paint), ...endingLines(attempt)].join("\n");
}

function stepTable(steps: readonly TimelineStep[], paint: Paint): string {
  const lines = table(
    ["ACTION", "AT", "TOOK", "WHAT"],
    steps.map(({ action, at, ms, state }) => [
      action,
      at?.slice(11, 23) ?? (state === "done" ? "no news" : "-"),
      ms === null ? "-" : tookText(ms),
      ACTION_WORDS[action],
    ]),
  ).split("\n");
  const marked = lines.map((line, at) => {
    const step = steps[at - 1];
    return step === undefined
      ? `    ${line}`
      : `  ${paint(MARKS[step.state][1], MARKS[step.state][0])} ${line}`;
  });
  return marked.join("\n");
}

function endingLines({ observedFrom, endedAt, error }: UpgradeAttempt): string[] {
  const watched =
    observedFrom === null
      ? []
      : [
          endedAt === null
            ? `  health is observed since ${observedFrom}`
            : `  health was observed for ${spanOf(observedFrom, endedAt)}`,
        ];
  if (error === null) return watched;
  const next = nextOf(error.code, "node");
  return [
    ...watched,
    `  why: ${printable(`${error.code}: ${error.text}`)}`,
    ...(next === null ? [] : [`  what to do: ${next}`]),
  ];
}

const spanOf = (from: string, to: string): string => tookText(Date.parse(to) - Date.parse(from));
const tookText = (ms: number): string => (ms < 1000 ? `${Math.max(0, ms)}ms` : durationText(ms));
