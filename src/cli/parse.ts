/** Understands the words and calls the one command they name. Loaded after completion had its chance to answer. */
import { CommanderError } from "commander";
import { EXIT } from "../core/error-codes.ts";
import { FairleadError } from "../core/errors.ts";
import type { Result } from "./call.ts";
import { helpWords } from "./help-words.ts";
import type { Io } from "./io.ts";
import { paintFor } from "./output.ts";
import { buildProgram } from "./program.ts";
import type { CommandSpec } from "./specs/spec.ts";

export async function parse(argv: readonly string[], io: Io, json: boolean): Promise<number> {
  let exit: number = EXIT.ok;
  let aside = "";
  const program = buildProgram(
    async (spec, args, options) => {
      exit = await runCommand(spec, args, options, io, json);
    },
    { out: (text) => io.stdout.write(text), err: (text) => (aside += text) },
  );
  try {
    await program.parseAsync(argv.length === 0 ? ["--help"] : helpWords(argv), { from: "user" });
    return exit;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return EXIT.ok;
    if (error.code !== "commander.help" || json) throw usage(error, aside);
    io.stderr.write(aside);
    return EXIT.usage;
  }
}

async function runCommand(
  spec: CommandSpec,
  args: string[],
  options: Record<string, unknown>,
  io: Io,
  json: boolean,
): Promise<number> {
  const command = await spec.load();
  const context = typeof options["context"] === "string" ? options["context"] : undefined;
  const result = await command.run({ io, json, paint: paintFor(io), context, args, options });
  writeResult(io, json, result);
  return result.exit ?? EXIT.ok;
}

function writeResult(io: Io, json: boolean, { data, text, notes }: Result): void {
  if (json) return io.stdout.write(`${JSON.stringify(data)}\n`);
  if (text !== "") io.stdout.write(`${text}\n`);
  if (notes !== undefined) io.stderr.write(`${notes}\n`);
}

function usage(error: CommanderError, aside: string): FairleadError {
  if (error.code === "commander.help") {
    const path = /^Usage: (.*?) \[/m.exec(aside)?.[1] ?? "fairlead";
    return new FairleadError("USAGE", `\`${path}\` needs a subcommand`);
  }
  return new FairleadError("USAGE", error.message.replace(/^error: /, "").replaceAll("\n", " "));
}
