/**
 * From words to an exit code.
 *
 * 1. Whatever happens, the caller gets a code from EXIT, and with `--json` one document on stdout.
 * 2. Only what was asked for is loaded: a command's file, and what it needs, after its words were understood.
 */
import { EXIT } from "../core/error-codes.ts";
import type { Io } from "./io.ts";
import { failureOf, writeFailure } from "./output.ts";

export async function run(argv: readonly string[], io: Io): Promise<number> {
  const json = asksForJson(argv);
  try {
    if (argv[0] === "complete") return await complete(argv.slice(1), io);
    const { parse } = await import("./parse.ts"); // (2)
    const words = argv[0] === "--version" || argv[0] === "-V" ? ["version", ...argv.slice(1)] : argv;
    return await parse(words, io, json);
  } catch (error) {
    const failure = failureOf(error); // (1)
    writeFailure(io, json, failure);
    return failure.exit;
  }
}

async function complete(argv: readonly string[], io: Io): Promise<number> {
  const { suggestions } = await import("./complete.ts");
  io.stdout.write(suggestions(argv[0] === "--" ? argv.slice(1) : argv, io.env));
  return EXIT.ok;
}

/** Asked of the raw words, because an error may come before they are understood. */
function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return (end === -1 ? argv : argv.slice(0, end)).includes("--json");
}
