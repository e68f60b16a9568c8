/** Shell completion, answered from the specs alone: no commander, no zod, no network. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { RootCommand, type Command } from "@bomb.sh/tab";
import { homeOf } from "./home.ts";
import type { Io } from "./io.ts";
import { COMMANDS, PROGRAMS, SUBJECTS } from "./specs/index.ts";
import type { ArgumentSpec, CommandSpec, OptionSpec } from "./specs/spec.ts";

export const SHELLS = ["bash", "zsh", "fish"] as const;

export function completionScript(shell: (typeof SHELLS)[number]): string {
  const script = printedBy(() => new RootCommand().setup("fairlead", "fairlead", shell));
  return shell === "bash" ? forBareBash(script) : script;
}

/** tab's script needs the bash-completion package, and complains when it is read a second time. */
const forBareBash = (script: string): string =>
  script.replaceAll(/^readonly /gm, "").replace(
    /^ *_get_comp_words_by_ref .*$/m,
    (line) => `    if declare -F _get_comp_words_by_ref >/dev/null; then
    ${line}
    else
        words=("\${COMP_WORDS[@]}"); cword=$COMP_CWORD; cur=\${words[cword]}; prev=\${words[cword-1]}
    fi`,
  );

export function suggestions(words: readonly string[], env: Io["env"]): string {
  return printedBy(() => completionTree(env).parse([...words]));
}

function completionTree(env: Io["env"]): RootCommand {
  const root = new RootCommand();
  for (const { name, about } of [...SUBJECTS, ...PROGRAMS]) root.command(name, about);
  root.command("help", "help on a command");
  for (const spec of COMMANDS) describe(root.command(spec.path, spec.about), spec, env);
  return root;
}

function describe(command: Command, spec: CommandSpec, env: Io["env"]): void {
  const context: OptionSpec = { flags: "--context <name>", about: "the site to speak to" };
  const options = spec.remote === true ? [...(spec.options ?? []), context] : (spec.options ?? []);
  for (const { flags, about, choices } of options) {
    const [name, value] = flags.slice("--".length).split(" ") as [string, string?];
    if (value === undefined) command.option(name, about);
    else command.option(name, about, offer(choices ?? (name === "context" ? contextNames(env) : [])));
  }
  command.option("json", "one JSON document on the last line");
  for (const argument of spec.arguments ?? []) {
    command.argument(argument.name.slice(1, -1), offer(offered(spec, argument, env)));
  }
}

function offered(spec: CommandSpec, argument: ArgumentSpec, env: Io["env"]): readonly string[] {
  if (argument.choices !== undefined) return argument.choices;
  return spec.path.startsWith("context ") ? contextNames(env) : [];
}

const offer = (values: readonly string[]) => (complete: (value: string, about: string) => void) => {
  for (const value of values) complete(value, "");
};

function contextNames(env: Io["env"]): string[] {
  try {
    const names = readdirSync(join(homeOf(env), "contexts"));
    return names.filter((name) => name.endsWith(".json")).map((name) => name.slice(0, -".json".length));
  } catch {
    return []; // no context yet
  }
}

/** tab answers on `console.log` and has no other way; it does so before it returns. */
function printedBy(print: () => void): string {
  const log = console.log;
  const lines: unknown[] = [];
  console.log = (line: unknown) => void lines.push(line);
  try {
    print();
  } finally {
    console.log = log;
  }
  return lines.map((line) => `${String(line)}\n`).join("");
}
