/**
 * `npm run simulate -- --seed N --runs M`: M seeds from N on, from a random one unless said; the first that breaks a rule
 * is told and ends it. With `--month` each seed is a month of one site instead of one rollout or group.
 */
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { playMonths, playSeeds } from "./play-seeds.ts";

function numberOf(name: string, text: string): number {
  if (/^\d{1,10}$/.test(text)) return Number(text);
  process.stderr.write(`--${name} takes a number, not ${JSON.stringify(text)}\n`);
  process.exit(2);
}

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: String(randomInt(1, 1_000_000_000)) },
    runs: { type: "string" },
    month: { type: "boolean", default: false },
  },
});
const [seed, runs] = [
  numberOf("seed", values.seed),
  numberOf("runs", values.runs ?? (values.month ? "200" : "1000")),
];
function monthEnds(): ReadonlyMap<string, number> {
  const { ends, deeds } = playMonths({ seed, runs });
  return new Map([...ends, ...deeds]);
}

const began = performance.now();
try {
  const ends = values.month ? monthEnds() : playSeeds({ seed, runs }).ends;
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  const lines = [...ends].map(([end, count]) => `${end.padEnd(30)}${count}`).toSorted();
  process.stdout.write(
    `${lines.join("\n")}\n${runs} ${values.month ? "months" : "runs"} from seed ${seed} kept every rule, in ${seconds} s\n`,
  );
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
