import { describe, expect, test } from "vitest";
import { LIMITS } from "../../../src/core/limits.ts";
import { openManifest, readManifest, recipesOf } from "../../../src/host/manifest-file.ts";
import { planConfigs } from "../../../src/render/configs.ts";
import { refusalOf } from "../../support/refusals.ts";

const HEAD = `upgrade_id: v2
chain_profile_id: demo
binary_name: demo
target_version: 2.0.0
target_url: https://dl.example/demo
`;
const read = (more: string) => readManifest(Buffer.from(HEAD + more), "v2.yaml");
const problemsOf = (more: string): string[] => {
  const found = read(more);
  if (found.kind === "read") return [];
  return found.problems.map(({ message, place }) => `${place.line}:${place.column} ${message}`);
};

describe("a manifest that cannot be read (ROLL-1)", () => {
  test("every problem is told, in the order in which they stand", () => {
    const text = "bogus: 1\nconfig_changes:\n  - path: ../a\n    kontent: x\n    mode: '0999'\n";
    expect(problemsOf(text)).toEqual([
      "6:1 bogus: unknown key",
      "8:5 config_changes.0: content or template is missing",
      "8:11 config_changes.0.path: a plain relative path",
      "8:11 config_changes.0.path: `..` is refused",
      "9:5 config_changes.0.kontent: unknown key",
      '10:11 config_changes.0.mode: an octal mode of four digits in quotes, such as "0644"',
    ]);
  });

  test.each([
    ["an alias", "variable_overrides: { a: &x 1, b: *x }\n", "6:35 aliases are refused"],
    ["a key that is a prototype", 'variable_overrides: { "__proto__": 1 }\n', "6:23 __proto__: unknown key"],
    [
      "an override called node",
      "variable_overrides: { node: 1 }\n",
      "6:29 variable_overrides.node: the name is taken",
    ],
    ["an override that is a list", "variable_overrides: { a: [1] }\n", "6:26 variable_overrides.a: "],
    [
      "a template out of its folder",
      "config_changes: [{ path: a, template: ../../etc/passwd }]\n",
      "6:39 config_changes.0.template: ",
    ],
    [
      "a template with a wrong word",
      "config_changes: [{ path: a, template: { inlin: x } }]\n",
      "config_changes.0.template.inline",
    ],
    [
      "both content and template",
      "config_changes: [{ path: a, content: x, template: y }]\n",
      "either content or template, not both",
    ],
    [
      "variables without a template",
      "config_changes: [{ path: a, content: x, variables: { y: 1 } }]\n",
      "variables belong to a template",
    ],
    [
      "a NUL in a text",
      'target_checksum: "sha256:\\0"\n',
      "6:18 target_checksum: control characters are refused",
    ],
    [
      "a NUL in a config",
      'config_changes: [{ path: a, content: "a\\0b" }]\n',
      "config_changes.0.content: a NUL is refused",
    ],
    ["a NUL in a plan", 'state_compatibility: { recovery_plan: "\\0" }\n', "a NUL is refused"],
    ["a line break in an address", 'target_url: "https://x\\ny"\n', "6:1 Map keys must be unique"],
    ["nesting without end", `run: ${"[".repeat(5_000)}\n`, "nested too deep"],
    [
      "a value of a megabyte",
      `target_checksum: "${"a".repeat(1 << 20)}"\n`,
      `1:1 larger than ${LIMITS.manifestBytesMax} bytes`,
    ],
    ["a value of 100 KB", `target_checksum: "${"a".repeat(100_000)}"\n`, "6:18 target_checksum: "],
  ])("%s is refused with its place", (_what, more, problem) => {
    expect(problemsOf(more).join("\n")).toContain(problem);
  });

  test("an alias bomb is refused at its first alias, and at once", () => {
    const level = (n: number) => `l${n}: &l${n} [${Array.from({ length: 9 }, () => `*l${n - 1}`).join(",")}]`;
    const bomb = ["l0: &l0 [x]", ...Array.from({ length: 12 }, (_, n) => level(n + 1))].join("\n");
    expect(problemsOf(bomb)[0]).toBe("7:10 aliases are refused");
  });

  test("an id that is a path is refused where it stands", () => {
    const text = HEAD.replace("v2", "../../etc").replace("demo\n", "a/b\n");
    const found = readManifest(Buffer.from(text), "x");
    expect(found.kind === "broken" && found.problems.map(({ place }) => [place.line, place.column])).toEqual([
      [1, 13],
      [2, 19],
    ]);
  });
});

describe("where a template stands (ROLL-17)", () => {
  const upgrade = { profile: "demo", upgradeId: "v2", targetVersion: "2.0.0", sourceVersion: "1.0.0" };
  async function placeOf(template: string): Promise<unknown> {
    const text = `${HEAD}config_changes:\n  - path: a\n    template:\n${template}`;
    const recipes = await recipesOf(openManifest(Buffer.from(text), "v2.yaml"), async () => undefined);
    const { file, line, column } = refusalOf(() => planConfigs(recipes, upgrade)).detail!;
    return [file, line, column];
  }

  test.each([
    ["a block", "      inline: |\n        ok = 1\n        no = {{ nope }}\n", [11, 17]],
    ["a block after an empty line", "      inline: |\n\n        no = {{ nope }}\n", [11, 17]],
    ["a quoted line", '      inline: "no = {{ nope }}"\n', [9, 24]],
    ["a plain line", "      inline: no {{ nope }}\n", [9, 21]],
    [
      "a folded text, of which the beginning is known",
      "      inline: >\n        ok\n        {{ nope }}\n",
      [9, 15],
    ],
    ["an escaped text, likewise", '      inline: "a\\tb {{ nope }}"\n', [9, 16]],
  ])("in %s, the complaint points into the manifest", async (_what, template, [line, column]) => {
    expect(await placeOf(template)).toEqual(["v2.yaml", line, column]);
  });

  test("a template that is not there is TEMPLATE_NOT_FOUND where it is named", async () => {
    const open = openManifest(
      Buffer.from(`${HEAD}config_changes: [{ path: a, template: a.liquid }]\n`),
      "v2.yaml",
    );
    await expect(recipesOf(open, async () => undefined)).rejects.toMatchObject({
      code: "TEMPLATE_NOT_FOUND",
      detail: { file: "v2.yaml", line: 6, column: 39 },
    });
  });

  test("a template's file is named by itself, and must be text", async () => {
    const open = openManifest(
      Buffer.from(`${HEAD}config_changes: [{ path: a, template: a.liquid }]\n`),
      "v2.yaml",
    );
    const of = (bytes: Buffer) => recipesOf(open, async (name) => ({ file: `templates/${name}`, bytes }));
    const recipes = await of(Buffer.from("\n {{ nope }}"));
    expect(refusalOf(() => planConfigs(recipes, upgrade)).message).toBe(
      "templates/a.liquid:2:5: unknown variable nope",
    );
    await expect(of(Buffer.from([0xff, 0xfe]))).rejects.toMatchObject({ code: "TEMPLATE_INVALID" });
  });
});
