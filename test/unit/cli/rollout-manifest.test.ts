import { writeFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { BASE, manifestText, site, typed } from "./rollout-site.ts";
import { fairlead } from "./support.ts";

describe("manifests on the command line (USE-4)", () => {
  test.each([
    ["a wrong value", manifestText("runtime: [\n"), /v2\.yaml:\d+:\d+: /],
    [
      "a wrong field",
      manifestText().replace("target_version: 2.0.0", "target_version: 'no spaces'"),
      /v2\.yaml:4:17: target_version/,
    ],
    [
      "a path out of the folder",
      manifestText().replace("z.conf", "../z"),
      /v2\.yaml:10:11: config_changes\.0\.path/,
    ],
    ["an unknown field", manifestText("bogus: 1\n"), /v2\.yaml:\d+:\d+: .*bogus/],
    ["a key twice", manifestText("upgrade_id: v3\n"), /v2\.yaml:15:1: .*unique/],
    ["no mapping", "just text", /v2\.yaml:1:1/],
  ])("%s is MANIFEST_INVALID at its line and column", async (_what, text, place) => {
    const { env, manifest } = await site();
    await writeFile(manifest, text);
    const ran = await fairlead([...BASE, "--manifest", manifest], { env });
    expect(ran.code).toBe(3);
    expect(ran.err).toMatch(/^error MANIFEST_INVALID: /);
    expect(ran.err).toMatch(place);
    const json = (await fairlead([...BASE, "--manifest", manifest, "--json"], { env })).json();
    const { detail } = (json as { error: { detail: { file: string; line: number; column: number } } }).error;
    expect(ran.err).toContain(`${manifest}:${detail.line}:${detail.column}: `);
    expect(detail.file).toBe(manifest);
  });

  test("an alias bomb is refused", async () => {
    const { env, manifest } = await site();
    const levels = Array.from(
      { length: 9 },
      (_, n) =>
        `${"abcdefghi"[n]!}${n}: &l${n} [${n === 0 ? "x" : Array.from({ length: 9 }, () => `*l${n - 1}`).join(",")}]`,
    );
    await writeFile(manifest, levels.join("\n"));
    expect((await fairlead([...BASE, "--manifest", manifest], { env })).err).toMatch(
      /^error MANIFEST_INVALID/,
    );
  });

  test.each([
    [["--manifest", "/nowhere.yaml"], 5, /--manifest \/nowhere\.yaml: there is no such file/],
    [["--manifest", "/"], 3, /--manifest \/: /],
    [["--manifest", "x.yaml", "--checksum", "y"], 2, /--manifest says what to install/],
    [[], 2, /give --manifest, or else --profile, --binary-name, --target-version, --url/],
  ])("wrong words %j are told by flag", async (more, exit, message) => {
    const { env } = await site();
    const ran = await fairlead([...BASE, ...more], { env });
    expect(ran.code).toBe(exit);
    expect(ran.err).toMatch(message);
  });

  test("a release key that is none is told by flag", async () => {
    const { env, manifest } = await site();
    const ran = await fairlead([...typed(), "--release-key", manifest], { env });
    expect(ran.err).toContain(`--release-key ${manifest}: not an Ed25519 key`);
  });
});
