// The types, lint and layer checks, each run on a small tree that breaks their rules:
// a check that cannot fail would not be noticed otherwise.

import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { inRoot } from "../../scripts/root.mjs";
import { findLayerProblems } from "../../scripts/test/layers.ts";

const GOOD = {
  "src/core/good.ts": 'import { z } from "zod";\n\nexport const Name = z.string();\n',
  "src/trust/good.ts":
    'import { Name } from "../core/good.ts";\n\nexport const nameOf = (raw: unknown) => Name.parse(raw);\n',
  "src/host/good.ts":
    'import { spawn } from "node:child_process";\n\nexport const start = () => spawn("true");\n',
};

/** One rule broken in each file. */
const BAD = {
  "src/core/clock.ts": "export const now = () => Date.now();\n",
  "src/core/dice.ts": "export const dice = () => Math.random();\n",
  "src/core/builtin.ts": 'import { readFileSync } from "node:fs";\n\nexport const read = readFileSync;\n',
  "src/core/runtime.ts": "export const argv = () => process.argv;\n",
  "src/core/upward.ts": 'import { nameOf } from "../trust/good.ts";\n\nexport const up = nameOf;\n',
  "src/server/spawns.ts": 'import { spawn } from "node:child_process";\n\nexport const start = spawn;\n',
  "src/server/floats.ts": "const work = async () => 1;\n\nexport function go(): void {\n  work();\n}\n",
  "src/server/any.ts": "export const loose = (value: any): unknown => value;\n",
  "src/server/switch.ts":
    'export function f(x: "a" | "b"): void {\n  switch (x) {\n    case "a":\n      throw new Error();\n  }\n}\n',
  "src/server/cycle-a.ts": 'import { b } from "./cycle-b.ts";\n\nexport const a = (): number => b();\n',
  "src/server/cycle-b.ts": 'import { a } from "./cycle-a.ts";\n\nexport const b = (): number => a();\n',
  "src/render/reads.ts": 'import { readFileSync } from "node:fs";\n\nexport const read = readFileSync;\n',
  "src/cli/sideways.ts": 'import { go } from "../server/floats.ts";\n\nexport const side = go;\n',
};

let tree = "";

beforeAll(() => {
  tree = mkdtempSync(join(tmpdir(), "fairlead-tidy-"));
  symlinkSync(inRoot("node_modules"), join(tree, "node_modules"));
  const configs = ["core", "trust", "host", "render", "server", "cli"].map(
    (layer) => `src/${layer}/tsconfig.json`,
  );
  for (const file of ["package.json", "tsconfig.base.json", ".oxlintrc.json", ...configs]) {
    cpSync(inRoot(file), join(tree, file), { recursive: true });
  }
  for (const [path, text] of Object.entries({ ...GOOD, ...BAD })) {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(join(tree, path), text);
  }
});

afterAll(() => rmSync(tree, { recursive: true, force: true }));

function outputOf(tool: string, ...args: string[]): string {
  const { stdout, stderr } = spawnSync(process.execPath, [inRoot(`node_modules/${tool}`), ...args], {
    cwd: tree,
    encoding: "utf8",
  });
  return stdout + stderr;
}

test("lint reports each broken rule and leaves good files alone", () => {
  const lines = outputOf("oxlint/bin/oxlint", "-f", "unix", "src").split("\n");
  const reported = (path: string) => lines.filter((line) => line.startsWith(`${path}:`)).join("\n");
  const expected = {
    "src/core/clock.ts": "no-restricted-properties",
    "src/core/dice.ts": "no-restricted-properties",
    "src/core/builtin.ts": "no-restricted-imports",
    "src/core/runtime.ts": "no-restricted-globals",
    "src/render/reads.ts": "no-restricted-imports",
    "src/server/spawns.ts": "no-restricted-imports",
    "src/server/floats.ts": "no-floating-promises",
    "src/server/any.ts": "no-explicit-any",
    "src/server/switch.ts": "switch-exhaustiveness-check",
    "src/server/cycle-a.ts": "no-cycle",
  };
  for (const [path, rule] of Object.entries(expected)) expect(reported(path)).toContain(rule);
  for (const path of Object.keys(GOOD)) expect(reported(path)).toBe("");
});

test("the compiler refuses a runtime's globals in core and an import across processes", () => {
  const output = outputOf("@typescript/native/bin/tsc", "-b", "src/cli", "src/core");
  expect(output).toMatch(/src\/core\/runtime\.ts\(.*TS2\d+: Cannot find name 'process'/);
  expect(output).toMatch(/src\/cli\/sideways\.ts\(.*TS6307/);
  for (const path of Object.keys(GOOD)) expect(output).not.toContain(`${path}(`);
});

test("the layer check reports each wrong edge and no other", async () => {
  expect((await findLayerProblems(tree)).toSorted()).toEqual([
    "core-is-pure: src/core/builtin.ts → fs",
    "layer-cli: src/cli/sideways.ts → src/server/floats.ts",
    "layer-core: src/core/upward.ts → src/trust/good.ts",
    "render-is-pure: src/render/reads.ts → fs",
  ]);
});

test("the layer check fails where it sees no files", async () => {
  const empty = join(tree, "empty");
  mkdirSync(join(empty, "src"), { recursive: true });
  expect(await findLayerProblems(empty)).toEqual(["no source files found"]);
});
