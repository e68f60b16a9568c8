// The writers of packages, read back by the tools that operators use.

import { spawnSync } from "node:child_process";
import { zstdDecompressSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ar } from "../../../scripts/package/ar.ts";
import { deb, type DebianPackage } from "../../../scripts/package/deb.ts";
import { type Entry, tar } from "../../../scripts/package/tar.ts";

const SECONDS = 1_700_000_000;

const file = (path: string, text = path, mode = 0o644) =>
  ({ kind: "file", path, mode, content: Buffer.from(text) }) satisfies Entry;

function run(input: Buffer, command: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { input, encoding: "utf8" });
  expect(stderr).toBe("");
  expect(status).toBe(0);
  return stdout;
}

describe("a tar archive", () => {
  const entries: Entry[] = [
    file("usr/bin/program", "#!/bin/sh\n", 0o755),
    file("etc/secret", "s", 0o600),
    { kind: "link", path: "usr/bin/other", target: "program" },
  ];

  test("lists folders before their files, by name, owned by root, at the given time", () => {
    const listed = run(tar(entries, SECONDS, "./"), "tar", "--utc", "--full-time", "-tvf", "-");
    const lines = listed.trimEnd().split("\n");
    expect(lines.map((line) => line.replace(/ +\d+ 2023-11-14 22:13:20 /, " "))).toEqual([
      "drwxr-xr-x root/root ./etc/",
      "-rw------- root/root ./etc/secret",
      "drwxr-xr-x root/root ./usr/",
      "drwxr-xr-x root/root ./usr/bin/",
      "lrwxrwxrwx root/root ./usr/bin/other -> program",
      "-rwxr-xr-x root/root ./usr/bin/program",
    ]);
  });

  test("has the same bytes whatever order its entries are given in", () => {
    expect(tar(entries.toReversed(), SECONDS).equals(tar(entries, SECONDS))).toBe(true);
    expect(tar(entries, SECONDS + 1).equals(tar(entries, SECONDS))).toBe(false);
  });

  test("gives back any content of any length, under names of up to 227 bytes", () => {
    const name = fc.stringMatching(/^[a-z0-9._-]{1,75}$/).filter((part) => part !== "." && part !== "..");
    const one = fc.record({
      parts: fc.array(name, { minLength: 1, maxLength: 3 }),
      content: fc.uint8Array(),
    });
    fc.assert(
      fc.property(one, fc.nat(2_000), ({ parts, content }, more) => {
        const path = parts.join("/");
        const bytes = Buffer.concat([content, Buffer.alloc(more, 7)]);
        const archive = tar([{ kind: "file", path, mode: 0o644, content: bytes }], SECONDS);
        const { stdout } = spawnSync("tar", ["-xOf", "-", "--", path], { input: archive });
        expect(stdout.equals(bytes)).toBe(true);
      }),
      { numRuns: 25 },
    );
  });

  test.each([
    ["a path without a place to split it", [file("a".repeat(101))], /too long/],
    ["a link to a long path", [{ kind: "link", path: "a", target: "b".repeat(101) } as const], /too long/],
    ["two entries of one path", [file("a"), file("a", "b")], /share a path/],
  ])("refuses %s", (_, bad, why) => {
    expect(() => tar(bad, SECONDS)).toThrow(why);
  });
});

/** As ar(5) describes it: 60 bytes before each member, which begins at an even offset. */
function membersOf(archive: Buffer): Map<string, Buffer> {
  expect(archive.subarray(0, 8).toString()).toBe("!<arch>\n");
  const members = new Map<string, Buffer>();
  for (let at = 8; at < archive.length;) {
    const header = archive.subarray(at, at + 60).toString("latin1");
    expect(header.slice(16)).toMatch(/^1700000000 {2}0 {5}0 {5}100644 {2}\d+ *`\n$/);
    const length = Number(header.slice(48, 58));
    members.set(header.slice(0, 16).trimEnd(), archive.subarray(at + 60, at + 60 + length));
    at += 60 + length + (length % 2);
  }
  return members;
}

describe("an ar archive", () => {
  test("pads members of odd length, and refuses a name of more than 16 bytes", () => {
    const members = [
      { name: "odd", content: Buffer.from("abc") },
      { name: "even", content: Buffer.from("ab") },
    ];
    const archive = ar(members, SECONDS);
    expect([...membersOf(archive)]).toEqual(members.map(({ name, content }) => [name, content]));
    expect(archive.length % 2).toBe(0);
    expect(() => ar([{ name: "n".repeat(17), content: Buffer.alloc(0) }], SECONDS)).toThrow(/too long/);
  });
});

describe("a Debian package", () => {
  const wanted: DebianPackage = {
    name: "fairlead-sample",
    version: "1.2.3",
    architecture: "arm64",
    depends: ["libc6"],
    summary: "a sample",
    description: "Two lines\nof text.",
    entries: [file("usr/bin/sample", "x", 0o755), file("etc/default/sample", "FLAGS=\n")],
    scripts: { postinst: "#!/bin/sh\n" },
    conffiles: ["etc/default/sample"],
  };

  test("holds its version, control and data in the order that dpkg wants", async () => {
    const found = membersOf(await deb(wanted, SECONDS));
    expect([...found.keys()]).toEqual(["debian-binary", "control.tar.zst", "data.tar.zst"]);
    expect(found.get("debian-binary")!.toString()).toBe("2.0\n");
    const control = zstdDecompressSync(found.get("control.tar.zst")!);
    expect(run(control, "tar", "-xOf", "-", "./control")).toBe(
      [
        "Package: fairlead-sample",
        "Version: 1.2.3",
        "Architecture: arm64",
        "Maintainer: Fairlead maintainers <maintainers@fairlead.example>",
        "Installed-Size: 1",
        "Depends: libc6",
        "Section: admin",
        "Priority: optional",
        "Description: a sample",
        " Two lines",
        " of text.",
        "",
      ].join("\n"),
    );
    expect(run(control, "tar", "-xOf", "-", "./conffiles")).toBe("/etc/default/sample\n");
    expect(run(control, "tar", "-xOf", "-", "./md5sums")).toBe(
      "9dd4e461268c8034f5c8564e155c67a6  usr/bin/sample\n",
    );
    const data = zstdDecompressSync(found.get("data.tar.zst")!);
    expect(run(data, "tar", "-xOf", "-", "./usr/bin/sample")).toBe("x");
  });

  test("has the same bytes when it is made again", async () => {
    expect((await deb(wanted, SECONDS)).equals(await deb(wanted, SECONDS))).toBe(true);
  });

  test("is refused when a configuration file is not in it", async () => {
    await expect(deb({ ...wanted, conffiles: ["etc/other"] }, SECONDS)).rejects.toThrow("etc/other");
  });
});
