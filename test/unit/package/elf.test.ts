import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { stripElf } from "../../../scripts/package/elf.ts";

const node = readFileSync(process.execPath);

test("Node without its symbols is smaller by a tenth and more, and runs as before", () => {
  const stripped = stripElf(node);
  const folder = mkdtempSync(join(tmpdir(), "fairlead-elf-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "node");
  writeFileSync(file, stripped, { mode: 0o755 });
  const { stdout } = spawnSync(file, ["-p", "[process.version, crypto.randomUUID().length].join()"], {
    encoding: "utf8",
  });
  expect(stdout).toBe(`${process.version},36\n`);
  expect(stripped.length).toBeLessThan(node.length * 0.9);
});

test("a file without symbols stays as it is", () => {
  const stripped = stripElf(node);
  expect(stripElf(stripped).equals(stripped)).toBe(true);
});

test.each([
  ["text", Buffer.from("#!/bin/sh\nexit 0\n"), /not a 64-bit/],
  ["nothing", Buffer.alloc(0), /not a 64-bit/],
  ["an ELF file that was cut off", node.subarray(0, 1_000_000), /beyond the end/],
])("%s is refused", (_, bytes, why) => {
  expect(() => stripElf(bytes)).toThrow(why);
});
