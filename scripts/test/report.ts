// What the stages came to: a table for people, one line for machines, and the exit code.

export type Counts = { passed: number; failed: number; skipped: number; note?: string; failures?: string[] };
export type Outcome = Counts & { stage: string; seconds: number };

const TOLD_FAILURES = 10;

export function report(outcomes: readonly Outcome[], inCi: boolean): number {
  const total = { passed: 0, failed: 0, skipped: 0 };
  process.stdout.write("\n");
  for (const outcome of outcomes) {
    total.passed += outcome.passed;
    total.failed += outcome.failed;
    total.skipped += outcome.skipped;
    process.stdout.write(`${lineFor(outcome)}\n`);
  }
  const failures = outcomes.flatMap((outcome) => outcome.failures ?? []);
  for (const failure of failures.slice(0, TOLD_FAILURES)) process.stdout.write(`\n✗ ${failure}\n`);
  process.stdout.write(`\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped\n`);
  return exitCodeFor(total, inCi);
}

/** A skipped test under CI is a real part that went missing. */
export function exitCodeFor(total: Counts, inCi: boolean): number {
  const isGood = total.failed === 0 && total.passed > 0 && !(inCi && total.skipped > 0);
  return isGood ? 0 : 1;
}

function lineFor({ stage, seconds, passed, failed, skipped, note }: Outcome): string {
  const mark = failed > 0 ? "✗" : "✓";
  const counts = `${passed} passed, ${failed} failed, ${skipped} skipped`;
  return `${mark} ${stage.padEnd(12)} ${`${seconds.toFixed(1)} s`.padStart(8)}  ${counts}${note ? `  (${note})` : ""}`;
}
