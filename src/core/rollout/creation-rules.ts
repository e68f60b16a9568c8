/**
 * Creation rules of a rollout (ROLL-3), each with its own code. Rule 5 is the database's (one claim per profile), rule 6
 * needs the manifest's bytes, rules 8 and 9 are about groups (core/group/creation-rules.ts).
 *
 * A reverse is exempt from 4, 5 and 7 because it is no creation: it goes back over the nodes of a rollout that stands,
 * under the claim that this rollout holds or takes again, and never comes through here (core/rollout/decide.ts).
 */
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
  /** The program stays as it is and at least one of its config files changes: exempt from rule 4. */
  readonly configOnly: boolean;
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
    broken: (p) => (p.runtime === "docker" ? unpinned(p) : null),
  },
  {
    number: 4,
    code: "VERSION_UNCHANGED",
    broken: (p) =>
      p.sourceVersion === p.targetVersion && !p.configOnly
        ? `source and target are both ${p.targetVersion}, and it is no change of config files alone`
        : null,
  },
  { number: 7, code: "BREAKING_UNSAFE", broken: unsafeBreaking },
];

/** An image is fetched by the digest in its name and verified by the checksum: they are the same, or nothing fits. */
function unpinned({ url, checksum }: RolloutProposal): string | null {
  if (!PINNED.test(url)) return `${url} is not pinned by digest`;
  return url.endsWith(`@${checksum}`) ? null : `${url} is pinned to another digest than ${checksum}`;
}

function unsafeBreaking(proposal: RolloutProposal): string | null {
  if (proposal.migrationType !== "breaking") return null;
  const missing = [
    ...(proposal.recoveryPlan === null || proposal.recoveryPlan.trim() === "" ? ["recovery_plan"] : []),
    ...(proposal.strategy === "canary" ? [] : ["strategy: canary"]),
    ...(proposal.acknowledgeStateRisk ? [] : ["acknowledge_state_risk: true"]),
  ];
  return missing.length === 0 ? null : `a breaking migration lacks ${missing.join(", ")}`;
}

/** All that are broken, the first rule first. */
export const brokenRules = (proposal: RolloutProposal): FairleadError[] =>
  RULES.flatMap(({ number, code, broken }) => {
    const message = broken(proposal);
    return message === null ? [] : [new FairleadError(code, message, { rule: number })];
  });

export function checkCreationRules(proposal: RolloutProposal): void {
  const [first] = brokenRules(proposal);
  if (first !== undefined) throw first;
}
