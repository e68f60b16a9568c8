/** Why a snapshot is not in force, and what to do: a line below its scope, only where there is something to say. */
import type { ScopeView } from "../../../core/protocol/snapshot-api.ts";
import { Age } from "../../ui/age.tsx";
import { Icon } from "../../ui/icon.tsx";

export function Trouble({ view, columns }: { readonly view: ScopeView; readonly columns: number }) {
  const trouble = troubleOf(view);
  if (trouble === null) return null;
  return (
    <tr className="trouble-row">
      <td colSpan={columns}>
        <div className="trouble" data-tone={trouble.now ? "bad" : "neutral"}>
          <Icon name="alert" />
          <div>
            <p>
              <strong>{trouble.title}</strong> <code>{trouble.code}</code>{" "}
              <span className="muted">
                <Age at={trouble.at} />
              </span>
            </p>
            <p>
              {trouble.field === null ? null : (
                <>
                  <code>{trouble.field}</code>:{" "}
                </>
              )}
              {trouble.reason}
            </p>
            {trouble.remedy === null ? null : <p className="remedy">What to do: {trouble.remedy}</p>}
          </div>
        </div>
      </td>
    </tr>
  );
}

export interface TroubleWords {
  readonly title: string;
  readonly code: string;
  readonly field: string | null;
  readonly reason: string;
  readonly remedy: string | null;
  readonly at: string;
  /** False: it is over, and shown because it was the last. */
  readonly now: boolean;
}

export function troubleOf({ state, rejection, refusal }: ScopeView): TroubleWords | null {
  if (refusal !== null) {
    const field = refusal.field !== null && refusal.reason.includes(refusal.field) ? null : refusal.field;
    return {
      ...refusal,
      field,
      title: "The control plane would not sign what the model says now.",
      now: true,
    };
  }
  if (rejection === null) return null;
  const now = state === "rejected";
  const { step, check, version } = rejection;
  const what = version === null ? "One" : `Version ${version.version}`;
  const where = step === null ? "" : `: check ${step} of 12 failed, “${check ?? "unknown"}”`;
  return { ...rejection, title: `${what} ${now ? "is" : "was"} rejected${where}.`, now };
}
