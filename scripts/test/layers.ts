// The layer rules of .dependency-cruiser.mjs, and proof that they were applied to every file.

import { globSync } from "node:fs";
import { cruise } from "dependency-cruiser";
import type { ICruiseResult } from "dependency-cruiser";
import extractDepcruiseOptions from "dependency-cruiser/config-utl/extract-depcruise-options";
import { inRoot } from "../root.mjs";

export async function checkLayers(): Promise<void> {
  const problems = await findLayerProblems(inRoot("."));
  if (problems.length > 0) throw new Error(`wrong edges:\n  ${problems.join("\n  ")}`);
}

/**
 * A cruiser without a compiler it understands sees no module at all and reports "no violations":
 * a source file that it did not see is therefore a problem of its own.
 */
export async function findLayerProblems(root: string): Promise<string[]> {
  const options = await extractDepcruiseOptions(inRoot(".dependency-cruiser.mjs"));
  const { output } = await cruise(["src"], { ...options, baseDir: root });
  if (typeof output === "string") throw new Error("dependency-cruiser answered with text");
  return [...wrongEdges(output), ...unseenFiles(output, root)];
}

const wrongEdges = ({ summary }: ICruiseResult) =>
  summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`);

function unseenFiles({ modules }: ICruiseResult, root: string): string[] {
  const seen = new Set(modules.map((module) => module.source));
  const files = globSync("src/**/*.{ts,tsx,mjs}", { cwd: root });
  if (files.length === 0) return ["no source files found"];
  return files.filter((file) => !seen.has(file)).map((file) => `not seen by dependency-cruiser: ${file}`);
}
