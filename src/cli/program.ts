/** The commander tree, made from the specs. It parses words; what they mean is the commands' business. */
import { Command, InvalidArgumentError, Option } from "commander";
import { COMMANDS, PROGRAMS, SUBJECTS } from "./specs/index.ts";
import type { CommandSpec, OptionSpec } from "./specs/spec.ts";

export type Dispatch = (spec: CommandSpec, args: string[], options: Record<string, unknown>) => Promise<void>;

export interface ProgramOutput {
  readonly out: (text: string) => void;
  /** Commander's own words about an error: run.ts says them in ours. */
  readonly err: (text: string) => void;
}

const JSON_FLAG = ["--json", "results and errors as one JSON document on the last line"] as const;
const CONTEXT: OptionSpec = {
  flags: "--context <name>",
  about: "the site to speak to (default: the current context)",
};

export function buildProgram(dispatch: Dispatch, output: ProgramOutput): Command {
  const program = new Command("fairlead")
    .description("Rolls signed software and configuration out to fleets of machines.")
    .exitOverride()
    .configureOutput({ writeOut: output.out, writeErr: output.err })
    .configureHelp({ showGlobalOptions: false })
    .helpCommand(false)
    .enablePositionalOptions() // or `node list --version 1.0` would ask for ours
    .option("-V, --version", "print the version")
    .option(...JSON_FLAG);
  program.addHelpText("after", exampleText(["fairlead help rollout create", "fairlead rollout watch 3f2a"]));

  const parents = new Map<string, Command>();
  /** Under the subject that the words before the last one name. */
  function placeOf(path: string): [Command, string] {
    const words = path.split(" ");
    const word = words.pop()!;
    return [words.length === 0 ? program : parents.get(words.join(" "))!, word];
  }
  for (const { name, about } of SUBJECTS) {
    const examples = COMMANDS.filter(({ path }) => path.startsWith(`${name} `)).map(
      (spec) => spec.examples[0],
    );
    const [parent, word] = placeOf(name);
    const subject = parent
      .command(word)
      .description(about)
      .helpCommand(false)
      .option(...JSON_FLAG);
    parents.set(name, subject.addHelpText("after", exampleText(examples)));
  }
  for (const spec of COMMANDS) {
    const [parent, word] = placeOf(spec.path);
    addCommand(parent, word, spec, dispatch);
  }
  for (const { name, about } of PROGRAMS) addForeign(program, name, about);
  return program;
}

function addCommand(parent: Command, name: string, spec: CommandSpec, dispatch: Dispatch): void {
  const command = parent.command(name).description(spec.about);
  for (const { name: word, about, choices } of spec.arguments ?? []) {
    const argument = command.createArgument(word, about);
    command.addArgument(choices === undefined ? argument : argument.choices(choices));
  }
  const options = spec.remote === true ? [...(spec.options ?? []), CONTEXT] : (spec.options ?? []);
  for (const option of options) command.addOption(optionOf(option));
  command.option(...JSON_FLAG);
  command.addHelpText("after", exampleText(spec.examples));
  command.action(async () => dispatch(spec, command.args, command.optsWithGlobals()));
}

function optionOf(spec: OptionSpec): Option {
  const option = new Option(spec.flags, spec.about);
  if (spec.choices !== undefined) option.choices(spec.choices);
  if (spec.repeat === true) option.argParser(collect(spec.choices));
  if (spec.repeat === true && spec.required !== true) option.default([], "none");
  if (spec.fallback !== undefined) option.default(spec.fallback);
  if (spec.required === true) option.makeOptionMandatory();
  return option;
}

const collect =
  (choices: readonly string[] | undefined) =>
  (value: string, before: readonly string[] = []): readonly string[] => {
    if (choices?.includes(value) === false)
      throw new InvalidArgumentError(`Allowed choices are ${choices.join(", ")}.`);
    return [...before, value];
  };

/** Stands in `--help` only: these never reach the CLI when started as `fairlead`. */
function addForeign(program: Command, name: string, about: string): void {
  program
    .command(name)
    .description(about)
    .addHelpText("after", exampleText([/\((.*)\)/.exec(about)![1]!]))
    .allowUnknownOption()
    .allowExcessArguments()
    .action((_options: unknown, command: Command) => {
      command.error(`error: ${name} is a program of its own: start it with bin/fairlead.mjs`);
    });
}

const exampleText = (examples: readonly string[]): string =>
  `\nExample${examples.length === 1 ? "" : "s"}:\n${examples.map((example) => `  $ ${example}`).join("\n")}`;
