/** A config file that an upgrade puts beside the program: written out, or made from a template for each node (ROLL-17). */
import { z } from "zod";
import { Name } from "../ids.ts";
import { LIMITS } from "../limits.ts";
import { LongText } from "../text.ts";
import { ConfigPath } from "../upgrade/job.ts";

const mode = z
  .string()
  .regex(/^0[0-7]{3}$/, 'an octal mode of four digits in quotes, such as "0644"')
  .describe('Octal, in quotes: "0644" unless said; "0600" for a file with a secret:// reference.')
  .optional();
const path = ConfigPath.describe("Relative to the program's config folder.");

const ConfigFile = z.strictObject({ path, mode, content: LongText(LIMITS.configFileBytesMax) });

/** What templates see by themselves; no variable may take one of these names. */
const BUILT_IN_VARIABLES = ["profile", "node", "upgrade"] as const;
const LIQUID_WORDS = [
  "true",
  "false",
  "nil",
  "null",
  "empty",
  "blank",
  "forloop",
  "and",
  "or",
  "not",
  "contains",
];
const TAKEN: readonly string[] = [...BUILT_IN_VARIABLES, ...LIQUID_WORDS];

const VariableName = z
  .string()
  .max(64)
  .regex(/^[a-z][a-z0-9_]*$/, "a variable is named by small letters, digits and underscores")
  .refine((name) => !TAKEN.includes(name), "the name is taken");
const VariableValue = z.union([LongText(LIMITS.templateValueCharsMax), z.number(), z.boolean()]);
export const Variables = z
  .record(VariableName, VariableValue)
  .refine(
    (variables) => Object.keys(variables).length <= LIMITS.templateVariablesMax,
    `at most ${LIMITS.templateVariablesMax} variables`,
  );
export type Variables = z.infer<typeof Variables>;

const Template = z.union([
  Name.describe("A file under templates/ in the config folder."),
  z.strictObject({ inline: LongText(LIMITS.templateBytesMax) }),
]);

const ConfigChange = z
  .strictObject({
    path,
    mode,
    content: LongText(LIMITS.configFileBytesMax).describe("The file as it is.").optional(),
    template: Template.describe("A Liquid template; rendered for each node.").optional(),
    variables: Variables.describe(
      "What the template needs; variable_overrides of the manifest win.",
    ).optional(),
  })
  .superRefine(({ content, template, variables }, context) => {
    const say = (message: string) => context.addIssue({ code: "custom", message });
    if (content === undefined && template === undefined) say("content or template is missing");
    if (content !== undefined && template !== undefined) say("either content or template, not both");
    if (content !== undefined && variables !== undefined) say("variables belong to a template");
  });

const onePerPath = (files: readonly { readonly path: string }[]): boolean =>
  new Set(files.map((file) => file.path)).size === files.length;

export const ConfigFiles = z
  .array(ConfigFile)
  .max(LIMITS.configFilesMax)
  .refine(onePerPath, "one entry per path");
export const ConfigChanges = z
  .array(ConfigChange)
  .max(LIMITS.configFilesMax)
  .refine(onePerPath, "one entry per path");
