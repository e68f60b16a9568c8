// What the agent does not have cannot be attacked: it waits for nobody on a socket, and unpacks no archive.

import { expect, test } from "vitest";
import { occurrences, sourcesLike, withoutComments, type SourceFile } from "./repository.ts";

const WAITS = /\bcreateServer\b|\.listen\(|\bnew (?:net\.)?Server\(/g;
const UNPACKS = /["']node:zlib["']|\w*(?:gunzip|inflate)\w*|["'][^"']*\b(?:tar|unzip|bsdtar|cpio)["']/gi;

const found = (files: readonly SourceFile[]): string[] =>
  files
    .map(({ path, text }) => ({ path, text: withoutComments(text) }))
    .flatMap((file) => [...occurrences(file, WAITS), ...occurrences(file, UNPACKS)]);

test("ROLL-4: no file of the agent, nor of what it stands on, waits on a socket or unpacks an archive", () => {
  const files = sourcesLike("src/{agent,core,trust,host}/**/*.ts");
  expect(files.length).toBeGreaterThan(100);
  expect(found(files)).toEqual([]);
});

test("whoever began to would be found", () => {
  const text = [
    'import { createServer } from "node:http";',
    "server.listen(path);",
    'import { createGunzip } from "node:zlib";',
    'await run("/usr/bin/tar", ["-x"]);',
    "// a comment about createServer is none",
  ].join("\n");
  expect(found([{ path: "a.ts", text }]).map((line) => line.split(": ")[0])).toEqual([
    "a.ts:1",
    "a.ts:2",
    "a.ts:3",
    "a.ts:3",
    "a.ts:4",
  ]);
});
