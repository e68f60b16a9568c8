/** `fairlead help rollout create` and `fairlead rollout help create` are `fairlead rollout create --help`. */
import { FairleadError } from "../core/errors.ts";
import { COMMANDS, PROGRAMS, SUBJECTS } from "./specs/index.ts";

export function helpWords(argv: readonly string[]): readonly string[] {
  const [first, second, ...rest] = argv;
  if (first === "help") return helpOn(argv.slice(1));
  const isSubject = SUBJECTS.some(({ name }) => name === first);
  return isSubject && second === "help" ? helpOn([first!, ...rest]) : argv;
}

/** Commander would answer an unknown word with the help of the whole, as if it were understood. */
function helpOn(words: readonly string[]): readonly string[] {
  const path = words.filter((word) => !word.startsWith("-")).join(" ");
  const known = [
    ...COMMANDS.map((spec) => spec.path),
    ...[...SUBJECTS, ...PROGRAMS].map((spec) => spec.name),
  ];
  if (path !== "" && !known.includes(path))
    throw new FairleadError("USAGE", `there is no command \`${path}\``);
  return [...words, "--help"];
}
