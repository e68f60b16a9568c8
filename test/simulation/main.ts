/**
 * `npm run simulate -- --seed N --runs M`: M seeds from N on, from a random one unless said; the first that breaks a rule
 * is told and ends it.
 */
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { playSeeds } from "./play-seeds.ts";

function numberOf(name: string, text: string): number {
  if (/^\d{1,10}$/.test(text)) return Number(text);
  process.stderr.write(`--${name} takes a number, not ${JSON.stringify(text)}\n`);
  process.exit(2);
}

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: String(randomInt(1, 1_000_000_000)) },
    runs: { type: "string", default: "1000" },
  },
});
const [seed, runs] = [numberOf("seed", values.seed), numberOf("runs", values.runs)];
const began = performance.now();
try {
  const { ends } = playSeeds({ seed, runs });
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  const lines = [...ends].map(([end, count]) => `${end.padEnd(24)}${count}`).toSorted();
  process.stdout.write(
    `${lines.join("\n")}\n${runs} runs from seed ${seed} kept every rule, in ${seconds} s\n`,
  );
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
