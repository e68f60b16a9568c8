/** What the thief tried and what it got for it, printed when the tests are over. */
const attempts: { readonly attempt: string; readonly node: string; readonly refused: string }[] = [];

export const noteAttempt = (attempt: string, node: string, refused: string): void =>
  void attempts.push({ attempt, node, refused });

export function printAttempts(): void {
  const width = Math.max(...attempts.map(({ attempt }) => attempt.length));
  const lines = attempts.map(
    ({ attempt, node, refused }) => `  ${attempt.padEnd(width)}  ${node.padEnd(8)}${refused}`,
  );
  process.stdout.write(`\nthe thief's attempts, each refused\n${lines.join("\n")}\n`);
}
