/** How a soak is asked for: `npm run soak -- …`. */
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";

export const HELP = `Usage: npm run soak -- [--seed N] [--rounds N] [--hosts N] [--json]

Lives a month on real systemd hosts, a round a day: a rollout each, some of them failing, and faults chosen from the seed.
Then every node must run the version that its operator wants. Needs root, systemd-nspawn and Debian's libfaketime.

Options:
  --seed N     the plan; the same seed is the same month (default: a random one, which is printed)
  --rounds N   days, 1 to 365 (default 30)
  --hosts N    machines, 3 to 24 (default 10)
  --json       the result as one JSON document on the last line; progress goes to stderr
  --help       this text

Exit code 0 when every node is where it should be, 1 when not: then the seed, the day and the folder of the logs are told.

Example:
  npm run soak -- --seed 7 --rounds 5 --hosts 4
`;

export interface CommandLine {
  readonly seed: number;
  readonly rounds: number;
  readonly hosts: number;
  readonly json: boolean;
}

/** `help` when asked for it; a text for what cannot be read. */
export function readCommandLine(
  argv: readonly string[],
): CommandLine | "help" | { readonly problem: string } {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        seed: { type: "string", default: String(randomInt(1, 1_000_000_000)) },
        rounds: { type: "string", default: "30" },
        hosts: { type: "string", default: "10" },
        json: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    if (values.help) return "help";
    return {
      seed: whole("--seed", values.seed, 0, 4_294_967_295),
      rounds: whole("--rounds", values.rounds, 1, 365),
      hosts: whole("--hosts", values.hosts, 3, 24),
      json: values.json,
    };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

function whole(flag: string, text: string, min: number, max: number): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new Error(`${flag} takes a whole number from ${min} to ${max}, not ${JSON.stringify(text)}`);
}
