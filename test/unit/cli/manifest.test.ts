import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Manifest } from "../../../src/core/manifest/schema.ts";
import { CHECKSUM, manifestText } from "./rollout-site.ts";
import { fairlead, homeFor, serve, temporaryFolder, TOKEN_ANSWER } from "./support.ts";

interface Checked {
  readonly ok: boolean;
  readonly problems: readonly { code: string; line: number; column: number; file: string }[];
}

/** A config folder with one manifest, and its templates. */
async function configFolder(text: string, templates: Readonly<Record<string, string>> = {}): Promise<string> {
  const folder = await temporaryFolder();
  await mkdir(join(folder, "upgrades/demo-http"), { recursive: true });
  await mkdir(join(folder, "templates"));
  const file = join(folder, "upgrades/demo-http/v2.yaml");
  await writeFile(file, text);
  for (const [name, content] of Object.entries(templates))
    await writeFile(join(folder, "templates", name), content);
  return file;
}

async function check(text: string, templates?: Readonly<Record<string, string>>) {
  const file = await configFolder(text, templates);
  const ran = await fairlead(["manifest", "check", file]);
  const json = (await fairlead(["manifest", "check", file, "--json"])).json() as Checked;
  const places = json.problems.map(({ code, line, column }) => `${line}:${column} ${code}`);
  return { ...ran, file, places, json };
}

const withTemplate = manifestText("  - path: n.conf\n    template: n.liquid\n    variables: { port: 80 }\n");

describe("fairlead manifest check (ROLL-1, USE-2)", () => {
  test("a good manifest with its templates has no problem, and needs no server", async () => {
    const good = await check(withTemplate, {
      "n.liquid": "{{ node.name }}:{{ port }} {{ node.labels.zone }}\n",
    });
    expect([good.code, good.out, good.places]).toEqual([0, `${good.file}: no problem found\n`, []]);
  });

  test("every problem has its file, line and column, as text and as JSON", async () => {
    const text = `${withTemplate}  - path: m.conf
    template:
      inline: |
        ok
        {{ prot }}
  - path: s.conf
    mode: "0644"
    content: "secret://vault/x"
  - path: q.conf
    template: missing.liquid
`
      .replace(`target_checksum: ${CHECKSUM}`, 'target_checksum: ""')
      .replace("upgrade_id: v2", "upgrade_id: v3");
    const { code, out, places, file, json } = await check(text, { "n.liquid": "a\n{{ port | shout }}\n" });
    expect(code).toBe(3);
    expect(places).toEqual([
      "1:13 MANIFEST_INVALID",
      "2:1 TEMPLATE_INVALID",
      "6:18 CHECKSUM_REQUIRED",
      "22:12 TEMPLATE_INVALID",
      "24:11 CONFIG_MODE_UNSAFE",
      "27:15 TEMPLATE_NOT_FOUND",
    ]);
    expect(out).toContain(`${file}:22:12: TEMPLATE_INVALID unknown variable prot\n`);
    expect(out).toContain("templates/n.liquid:2:1: TEMPLATE_INVALID undefined filter: shout\n");
    expect(json.ok).toBe(false);
    expect(json.problems[1]!.file).toBe("templates/n.liquid");
  });

  test("SNAP-5: a raw secret in a config file is found where the file is declared, and its line is named", async () => {
    const text = manifestText('  - path: db.conf\n    content: "port: 1\\npassword: hunter2"\n');
    const { code, out, json } = await check(text);
    expect([code, json.problems.map((problem) => problem.code)]).toEqual([3, ["CONFIG_SECRET_FOUND"]]);
    expect(text.split("\n")[json.problems[0]!.line - 1]).toContain("- path: db.conf");
    expect(out).toContain("db.conf, line 2: it looks like a secret by its name");
    expect(out).not.toContain("hunter2");
  });

  test.each([
    [
      "a tag-only image",
      ["target_url: http://127.0.0.1:1/demo", "target_url: registry.example/demo:2\nruntime: docker"],
      "5:13 IMAGE_NOT_PINNED",
    ],
    ["no sha256", [CHECKSUM, "md5:1"], "6:18 CHECKSUM_NOT_SHA256"],
    [
      "a breaking migration without a plan",
      ["run:", "state_compatibility:\n  migration_type: breaking\nrun:"],
      "8:3 BREAKING_UNSAFE",
    ],
    ["an override for nothing", ["run:", "variable_overrides:\n  prot: 1\nrun:"], "8:3 TEMPLATE_INVALID"],
    ["an unknown key", ["run:", "rum: 1\nrun:"], "7:1 MANIFEST_INVALID"],
  ] as const)("%s is found where it stands", async (_what, [from, to], place) => {
    const { code, places } = await check(manifestText().replace(from, to));
    expect([code, places]).toEqual([3, [place]]);
  });

  test("templates may lie elsewhere; a file that is not there is told", async () => {
    const file = await configFolder(withTemplate);
    const elsewhere = await temporaryFolder();
    await writeFile(join(elsewhere, "n.liquid"), "{{ port }}");
    expect((await fairlead(["manifest", "check", file, "--templates", elsewhere])).code).toBe(0);
    expect((await fairlead(["manifest", "check", "/nowhere.yaml"])).err).toContain("there is no such file");
  });
});

describe("fairlead manifest schema, list and show (ROLL-1)", () => {
  test("the schema is a JSON Schema of what a manifest may say", async () => {
    const schema = (await fairlead(["manifest", "schema", "--json"])).json() as {
      $schema: string;
      properties: Record<string, object>;
      required: string[];
      additionalProperties: boolean;
    };
    expect(schema.$schema).toContain("json-schema.org/draft/2020-12");
    expect(Object.keys(schema.properties)).toEqual(Object.keys(Manifest.shape));
    expect(schema.required).toEqual([
      "upgrade_id",
      "chain_profile_id",
      "binary_name",
      "target_version",
      "target_url",
    ]);
    expect(schema.additionalProperties).toBe(false);
    expect(JSON.parse((await fairlead(["manifest", "schema"])).out)).toEqual(schema);
  });

  const summary = {
    chain_profile_id: "demo-http",
    upgrade_id: "v2",
    content_hash: CHECKSUM,
    runtime: "process",
    binary_name: "demo",
    target_version: "2.0.0",
    migration_type: "none",
    problem: null,
  };

  test("list shows what the server has, with what is wrong; show prints the text as it lies there", async () => {
    const broken = { ...summary, upgrade_id: "v3", runtime: null, binary_name: null, target_version: null };
    const { url } = await serve(({ url: { pathname, search } }) => {
      if (pathname === "/api/v1/auth/token") return TOKEN_ANSWER;
      if (pathname === "/api/v1/manifests/demo-http/v2")
        return { json: { ...summary, text: "upgrade_id: v2\n" } };
      if (pathname !== "/api/v1/manifests" || !search.includes("chain_profile_id=demo-http"))
        return undefined;
      const second = { ...broken, migration_type: null, problem: "upgrades/demo-http/v3.yaml:1:1: no" };
      return { json: { manifests: [summary, second], next_cursor: null } };
    });
    const env = await homeFor(url);
    const { out } = await fairlead(["manifest", "list", "--profile", "demo-http"], { env });
    expect(out).toMatch(/demo-http +v2 +2\.0\.0 +process +none/);
    expect(out).toMatch(/demo-http +v3 .*v3\.yaml:1:1: no/);
    const shown = await fairlead(["manifest", "show", "demo-http", "v2"], { env });
    expect([shown.out, shown.err]).toEqual(["upgrade_id: v2\n", `content hash ${CHECKSUM}\n`]);
    expect((await fairlead(["manifest", "show", "../../etc", "v2"], { env })).code).toBe(3);
  });
});
