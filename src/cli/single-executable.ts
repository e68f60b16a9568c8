/**
 * Start of the `fairlead` executable. Server and agent are executables of their own beside it, from packages of their own:
 * `fairlead agent …` becomes `fairlead-agent …`, in the same process.
 */
import { accessSync, constants } from "node:fs";
import { dirname, join } from "node:path";
import { EXIT } from "../core/error-codes.ts";
import { main as cli } from "./main.ts";

/** Executable, and the words that come before the caller's. */
const PROGRAMS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  server: ["fairlead-server"],
  backup: ["fairlead-server", "backup"],
  restore: ["fairlead-server", "restore"],
  agent: ["fairlead-agent"],
};

export async function main(argv: string[]): Promise<number> {
  const [word = "", ...rest] = argv[0] === "help" && argv.length === 2 ? [argv[1]!, "--help"] : argv;
  if (!Object.hasOwn(PROGRAMS, word)) return cli(argv);
  const [name, ...words] = PROGRAMS[word]!;
  const file = join(dirname(process.execPath), name);
  if (!isExecutable(file)) {
    process.stderr.write(
      `error: \`fairlead ${word}\` needs ${name}, and there is no ${file}\nwhat to do: install the package ${name}\n`,
    );
    return EXIT.failed;
  }
  return process.execve!(file, [file, ...words, ...rest], process.env);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
