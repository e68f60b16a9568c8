/** Looks for mistakes in a manifest: each with its file, line and column, in the form that editors and CI understand. */
import { z } from "zod";
import { EXIT } from "../../core/error-codes.ts";
import { LIMITS } from "../../core/limits.ts";
import { templateFolder } from "../../host/template-folder.ts";
import type { Call, Result } from "../call.ts";
import { findProblems } from "../manifest/find-problems.ts";
import { readNamedFile } from "../operator-files.ts";
import { optionsOf } from "../options.ts";
import { printable } from "../output.ts";
import { templatesOf } from "../rollout/manifest-wish.ts";

const Options = z.object({ templates: z.string().optional() });

export async function run(call: Call): Promise<Result> {
  const { templates } = optionsOf(Options, call.options);
  const file = call.args[0]!;
  const bytes = await readNamedFile("<file>", file, LIMITS.manifestBytesMax);
  const problems = await findProblems(bytes, file, templateFolder(templatesOf(file, templates)));
  const lines = problems.map(
    (problem) =>
      `${problem.file}:${problem.line}:${problem.column}: ${problem.code} ${printable(problem.message)}`,
  );
  const ok = problems.length === 0;
  return {
    data: { file, ok, problems },
    text: ok ? `${file}: no problem found` : lines.join("\n"),
    exit: ok ? EXIT.ok : EXIT.invalid,
  };
}
