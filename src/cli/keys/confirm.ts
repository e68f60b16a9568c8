/** Shows what is about to be signed, and waits for a person to say yes; a script says `--yes`. */
import { createInterface } from "node:readline/promises";
import { FairleadError } from "../../core/errors.ts";
import type { Call } from "../call.ts";
import { printable } from "../output.ts";

export async function confirm(call: Call, lines: readonly string[], question: string): Promise<void> {
  const { io, json, options } = call;
  if (!json) for (const line of lines) io.stderr.write(`${printable(line)}\n`);
  if (options["yes"] === true) return;
  if (json || !io.stdout.isTTY)
    throw new FairleadError("USAGE", "nobody can be asked here: read what it changes, then give --yes");
  io.stderr.write(`${question} [y/N] `);
  const answers = createInterface({ input: io.stdin });
  try {
    for await (const answer of answers) {
      if (/^y(es)?$/i.test(answer.trim())) return;
      break;
    }
  } finally {
    answers.close();
  }
  throw new FairleadError("USAGE", "not signed: the answer was no");
}
