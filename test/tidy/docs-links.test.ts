// A page that names a file which is gone sends its reader nowhere.

import { existsSync, globSync } from "node:fs";
import { dirname, join } from "node:path/posix";
import { expect, test } from "vitest";
import { inRoot } from "../../scripts/root.mjs";
import { sourcesLike } from "./repository.ts";
import type { SourceFile } from "./repository.ts";

const LINK = /\]\((?!https?:|mailto:)([^)\s]+)\)/g;
/** In code marks, and beginning with a folder of ours: `src/core/limits.ts`, `test/unit/`, `src/core/rollout/*.ts`. */
const PATH = /`((?:src|test|bench|scripts|bin|docs)\/[\w./*{},-]*)`/g;

const exists = (path: string): boolean =>
  existsSync(inRoot(path)) || globSync(path, { cwd: inRoot(".") }).length > 0;

function deadEnds({ path, text }: SourceFile, isThere: (path: string) => boolean): string[] {
  const prose = text.replaceAll(/^```[\s\S]*?^```$/gm, "");
  const linked = [...prose.matchAll(LINK)].map(([, target = ""]) => target.replace(/#.*$/, ""));
  const files = linked.filter((target) => target !== "").map((target) => join(dirname(path), target));
  const named = [...prose.matchAll(PATH)].map(([, name = ""]) => name);
  return [...files, ...named].filter((name) => !isThere(name)).map((name) => `${path}: ${name}`);
}

test("every file that a page links to or names is there", () => {
  const pages = sourcesLike("*.md", "docs/**/*.md");
  expect(pages.map(({ path }) => path)).toContain("ARCHITECTURE.md");
  expect(pages.flatMap((page) => deadEnds(page, exists))).toEqual([]);
});

test("a dead link and a file that is gone are found, an address elsewhere and a block of commands are not", () => {
  const text = [
    "[here](a.md#part) [gone](gone.md) [web](https://example.com/x) [top](#top)",
    "`src/here.ts` and `src/gone.ts` and `elsewhere/x.ts`",
    "```sh",
    "cat [x](commands.md)",
    "```",
  ].join("\n");
  const isThere = (path: string) => ["docs/a.md", "src/here.ts"].includes(path);
  expect(deadEnds({ path: "docs/page.md", text }, isThere)).toEqual([
    "docs/page.md: docs/gone.md",
    "docs/page.md: src/gone.ts",
  ]);
});
