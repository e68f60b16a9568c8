import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { run } from "../../../src/host/process.ts";

const BIN = fileURLToPath(new URL("../../../bin/fairlead.mjs", import.meta.url));

/** What a real bash offers after these words, in a shell that has read the script twice. */
async function offered(...words: string[]): Promise<{ lines: string[]; complaints: string }> {
  const folder = await mkdtemp(join(tmpdir(), "fairlead-completion-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const command = join(folder, "fairlead");
  await writeFile(command, `#!/bin/sh\nexec "${process.execPath}" "${BIN}" "$@"\n`);
  await chmod(command, 0o755);
  const quoted = words.map((word) => `'${word}'`).join(" ");
  const script = `
    source <(fairlead completion bash); source <(fairlead completion bash)
    compopt() { :; } # works inside a real key press only
    COMP_WORDS=(fairlead ${quoted}); COMP_CWORD=${words.length}
    __fairlead_complete
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const env = { PATH: `${folder}:/usr/bin:/bin`, HOME: folder };
  const ran = await run("/bin/bash", ["--norc", "-c", script], { env, timeoutMs: 60_000 });
  if (ran.kind !== "exited") throw new Error(ran.kind);
  return { lines: ran.stdout.toString().trim().split("\n"), complaints: ran.stderr.toString() };
}

describe("completion in a real bash (USE-2)", () => {
  test("offers verbs after a subject, without the bash-completion package and after being read twice", async () => {
    expect(await offered("rollout", "wa")).toEqual({ lines: ["watch", "wait"], complaints: "" });
  });

  test("offers the values of an option", async () => {
    expect((await offered("rollout", "wait", "--for", "")).lines).toEqual(["done", "paused"]);
  });
});
