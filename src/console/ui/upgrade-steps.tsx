/** The eight actions of an attempt: what happened, when, and why it ended as it did. */
import { isErrorCode, nextOf } from "../../core/errors.ts";
import {
  ACTION_WORDS,
  type StepState,
  type TimelineStep,
  type UpgradeAttempt,
} from "../../core/upgrade/timeline.ts";
import { Icon } from "./icon.tsx";
import { clockText, dateTimeText, durationText } from "./time-text.ts";
import type { IconName, Tone } from "./tones.ts";
import "./upgrade-steps.css";

const STEP_LOOKS: Record<StepState, { tone: Tone; icon: IconName; label: string }> = {
  done: { tone: "good", icon: "check", label: "done" },
  running: { tone: "info", icon: "progress", label: "running" },
  failed: { tone: "bad", icon: "cross", label: "failed" },
  not_reached: { tone: "neutral", icon: "circle", label: "not reached" },
};

export function UpgradeSteps({ attempt }: { readonly attempt: UpgradeAttempt }) {
  return (
    <div className="upgrade-steps">
      <ol>
        {attempt.steps.map((step) => (
          <Step key={step.action} step={step} />
        ))}
        <li data-tone={observedTone(attempt)}>
          <Icon name="eye" />
          <span className="step-name">health</span>
          <span className="step-what">watch what runs before it counts</span>
          <span className="step-time numbers">{observedText(attempt)}</span>
        </li>
      </ol>
      {attempt.error === null ? null : (
        <div className="node-error">
          <p>
            <code>{attempt.error.code}</code>
          </p>
          <p>{attempt.error.text}</p>
          {isErrorCode(attempt.error.code) ? (
            <p className="remedy">What to do: {nextOf(attempt.error.code, "node")}</p>
          ) : null}
        </div>
      )}
    </div>
  );
}

function Step({ step }: { readonly step: TimelineStep }) {
  const { tone, icon, label } = STEP_LOOKS[step.state];
  return (
    <li data-tone={tone}>
      <Icon name={icon} />
      <code className="step-name">{step.action}</code>
      <span className="step-what">
        {ACTION_WORDS[step.action]}
        <span className="visually-hidden">: {label}</span>
      </span>
      <span className="step-time numbers">{timeOf(step)}</span>
    </li>
  );
}

/** News of an action can be lost on its way: then it is said, not made up. */
function timeOf({ at, ms, state }: TimelineStep) {
  if (at === null) return state === "done" ? "no news" : "";
  return (
    <time dateTime={at} title={dateTimeText(at)}>
      {clockText(at)}
      {ms === null ? "" : `, ${ms < 1_000 ? `${Math.max(ms, 0)} ms` : durationText(ms)}`}
    </time>
  );
}

function observedTone({ observedFrom, endedAt, status }: UpgradeAttempt): Tone {
  if (observedFrom === null) return "neutral";
  if (endedAt === null) return "info";
  return status === "succeeded" || status === "rolled_back" ? "good" : "bad";
}

function observedText({ observedFrom, endedAt }: UpgradeAttempt): string {
  if (observedFrom === null) return "not observed";
  if (endedAt === null) return `since ${clockText(observedFrom)}`;
  return `${clockText(observedFrom)}, ${durationText(Date.parse(endedAt) - Date.parse(observedFrom))}`;
}
