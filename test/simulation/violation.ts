/** What must hold, by name: a broken rule says which one it was. */
export const RULES = [
  "one active rollout per profile",
  "no batch before its gate",
  "no component before its gate",
  "the threshold is overshot by one batch at most",
  "every node ends in the state of its machine",
  "no verdict is lost",
  "the record follows the machine",
  "no node is given up before it could reconnect",
  "a rollback leaves no node on the target",
  "every compensation is complete or an incident",
  "a command once, one at a time",
  "an ended rollout stays ended, a settled node settled",
  "an ending says what happened",
  "a silent node holds its rollout for a bounded time",
  "no job begins without authority",
  "nothing is signed while clocks disagree",
  "one signed frame moves a node's time by a bounded amount",
  "a corrected clock holds nothing up",
  "an idle step changes nothing",
  "everything ends or waits for a person",
  "a person can bring everything to its end",
  "every node ends where its operator wants it",
] as const;
export type Rule = (typeof RULES)[number];

export class Violation extends Error {
  readonly rule: Rule;

  constructor(rule: Rule, what: string) {
    super(`${rule}: ${what}`);
    this.name = "Violation";
    this.rule = rule;
  }
}

export function holds(condition: boolean, rule: Rule, what: string): void {
  if (!condition) throw new Violation(rule, what);
}
