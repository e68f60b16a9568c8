/**
 * Node for an architecture, as npm has it: the bytes that package-lock.json pins, whichever machine makes the packages.
 * The one for this machine is installed; another is fetched once and kept in .cache.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { inRoot } from "../root.mjs";
import { demand } from "./demand.ts";

export type Arch = "x64" | "arm64";

export interface NodeBinary {
  readonly executable: Buffer;
  readonly license: Buffer;
}

interface Pinned {
  readonly name: string;
  readonly version: string;
  readonly integrity: string;
}

const inArchive = { executable: "package/bin/node", license: "package/LICENSE" };

export function nodeBinary(arch: Arch): NodeBinary {
  const pinned = pinnedNode(arch);
  const installed = inRoot(`node_modules/${pinned.name}`);
  if (existsSync(installed)) {
    return {
      executable: readFileSync(join(installed, "bin/node")),
      license: readFileSync(join(installed, "LICENSE")),
    };
  }
  const archive = fetched(pinned);
  return {
    executable: extracted(archive, inArchive.executable),
    license: extracted(archive, inArchive.license),
  };
}

function pinnedNode(arch: Arch): Pinned {
  const lock = JSON.parse(readFileSync(inRoot("package-lock.json"), "utf8")) as {
    packages: Record<string, Omit<Pinned, "name">>;
  };
  const name = `node-linux-${arch}`;
  const entry = lock.packages[`node_modules/${name}`];
  if (entry === undefined) throw new Error(`package-lock.json does not pin ${name}`);
  return { name, version: entry.version, integrity: entry.integrity };
}

function fetched(pinned: Pinned): string {
  const { name, version, integrity } = pinned;
  const folder = inRoot(".cache/node");
  const file = join(folder, `${name}-${version}.tgz`);
  if (existsSync(file) && integrityOf(readFileSync(file)) === integrity) return file;
  mkdirSync(folder, { recursive: true });
  const fresh = mkdtempSync(join(folder, "fetch-"));
  try {
    demand("npm", ["pack", `${name}@${version}`, "--silent", "--pack-destination", fresh]);
    const found = integrityOf(readFileSync(join(fresh, `${name}-${version}.tgz`)));
    if (found !== integrity)
      throw new Error(`${name}@${version} is ${found}, and package-lock.json pins ${integrity}`);
    renameSync(join(fresh, `${name}-${version}.tgz`), file);
    return file;
  } finally {
    rmSync(fresh, { recursive: true });
  }
}

const integrityOf = (bytes: Buffer): string =>
  `sha512-${createHash("sha512").update(bytes).digest("base64")}`;

const extracted = (archive: string, path: string): Buffer => demand("tar", ["-xzOf", archive, path]);
