/** Creation rules of a rollout (ROLL-3), each with its own code. Rules 5 and 6 need the database or the manifest's bytes. */
import type { ErrorCode } from "../error-codes.ts";
import { FairleadError } from "../errors.ts";
import { Digest } from "../ids.ts";
import type { MigrationType, Runtime } from "../manifest/schema.ts";
import type { Strategy } from "./states.ts";

export interface RolloutProposal {
  readonly runtime: Runtime;
  readonly sourceVersion: string;
  readonly targetVersion: string;
  readonly url: string;
  readonly checksum: string;
  readonly strategy: Strategy;
  readonly migrationType: MigrationType;
  readonly recoveryPlan: string | null;
  readonly acknowledgeStateRisk: boolean;
}

interface Rule {
  readonly number: number;
  readonly code: ErrorCode;
  readonly broken: (proposal: RolloutProposal) => string | null;
}

const PINNED = /@sha256:[0-9a-f]{64}$/;

const RULES: readonly Rule[] = [
  {
    number: 1,
    code: "CHECKSUM_REQUIRED",
    broken: (p) => (p.checksum === "" ? "the checksum is empty" : null),
  },
  {
    number: 2,
    code: "CHECKSUM_NOT_SHA256",
    broken: (p) =>
      Digest.safeParse(p.checksum).success ? null : "the checksum is not sha256:<64 hex digits>",
  },
  {
    number: 3,
    code: "IMAGE_NOT_PINNED",
    broken: (p) =>
      p.runtime === "docker" && !PINNED.test(p.url) ? `${p.url} is not pinned by digest` : null,
  },
  {
    number: 4,
    code: "VERSION_UNCHANGED",
    broken: (p) =>
      p.sourceVersion === p.targetVersion ? `source and target are both ${p.targetVersion}` : null,
  },
  { number: 7, code: "BREAKING_UNSAFE", broken: unsafeBreaking },
];

function unsafeBreaking(proposal: RolloutProposal): string | null {
  if (proposal.migrationType !== "breaking") return null;
  const missing = [
    ...(proposal.recoveryPlan === null || proposal.recoveryPlan.trim() === "" ? ["recovery_plan"] : []),
    ...(proposal.strategy === "canary" ? [] : ["strategy: canary"]),
    ...(proposal.acknowledgeStateRisk ? [] : ["acknowledge_state_risk: true"]),
  ];
  return missing.length === 0 ? null : `a breaking migration lacks ${missing.join(", ")}`;
}

export function checkCreationRules(proposal: RolloutProposal): void {
  for (const rule of RULES) {
    const broken = rule.broken(proposal);
    if (broken !== null) throw new FairleadError(rule.code, broken, { rule: rule.number });
  }
}
