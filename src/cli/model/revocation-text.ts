/** What was taken back, for people. */
import type { RevocationView } from "../../core/protocol/model-api.ts";
import { ageOf } from "../duration.ts";
import { table } from "../output.ts";

const subjectOf = ({ subject, subject_name }: RevocationView): string => subject_name ?? subject;
const whom = ({ node_id, node_name }: RevocationView): string =>
  node_id === null ? "every node" : (node_name ?? node_id);

export const revocationWords = (revocation: RevocationView): string =>
  `revocation ${revocation.seq}: ${revocation.kind} ${subjectOf(revocation)} is taken back from ${whom(revocation)}`;

export function revocationTable(revocations: readonly RevocationView[], now: number): string {
  if (revocations.length === 0) return "";
  return table(
    ["NUMBER", "KIND", "WHAT", "FROM", "SINCE", "BY", "WHY"],
    revocations.map((each) => [
      String(each.seq),
      each.kind,
      subjectOf(each),
      whom(each),
      `${ageOf(each.created_at, now)} ago`,
      each.actor,
      each.reason ?? "-",
    ]),
  );
}
