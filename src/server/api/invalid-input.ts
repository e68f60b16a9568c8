/** What a schema found wrong, as one sentence that names the field. */
import type { core } from "zod";
import { FairleadError } from "../../core/errors.ts";

type Issue = core.$ZodIssue;

export function invalidInput(where: string, issues: readonly Issue[]): FairleadError {
  const issue = issues[0] === undefined ? undefined : deepest(issues[0]);
  const field = [where, ...(issue?.path ?? []).map(String)].join(".");
  const extra = issue?.code === "unrecognized_keys" ? `: ${issue.keys.join(", ")}` : "";
  const message = issue?.message ?? "not valid";
  return new FairleadError("INVALID_INPUT", `${field}: ${message}${message.includes(extra) ? "" : extra}`, {
    field,
  });
}

/** Of a union's branches, the one that fits best is the one that was meant. */
function deepest(issue: Issue): Issue {
  if (issue.code !== "invalid_union") return issue;
  const [closest] = issue.errors.toSorted((left, right) => left.length - right.length);
  const inner = closest?.[0];
  return inner === undefined ? issue : deepest({ ...inner, path: [...issue.path, ...inner.path] });
}
