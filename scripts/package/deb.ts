/**
 * A Debian package, written without Debian's tools: it can be made on any machine, no tree of files is laid out for it,
 * and owners, times and order are ours. docs/adr/0031.
 */
import { createHash } from "node:crypto";
import { ar } from "./ar.ts";
import { type Entry, tar } from "./tar.ts";
import { zstd } from "./zstd.ts";

export type MaintainerScript = "preinst" | "postinst" | "prerm" | "postrm";

export interface DebianPackage {
  readonly name: string;
  readonly version: string;
  readonly architecture: "amd64" | "arm64";
  readonly depends: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly entries: readonly Entry[];
  readonly scripts: { readonly [S in MaintainerScript]?: string };
  /** Paths of entries that an operator edits: dpkg keeps their changes. */
  readonly conffiles: readonly string[];
}

export async function deb(wanted: DebianPackage, seconds: number): Promise<Buffer> {
  const missing = wanted.conffiles.find((path) => !wanted.entries.some((entry) => entry.path === path));
  if (missing !== undefined) throw new Error(`a configuration file is not in the package: ${missing}`);
  return ar(
    [
      { name: "debian-binary", content: Buffer.from("2.0\n") },
      { name: "control.tar.zst", content: await zstd(tar(controlEntries(wanted), seconds, "./")) },
      { name: "data.tar.zst", content: await zstd(tar(wanted.entries, seconds, "./")) },
    ],
    seconds,
  );
}

function controlEntries(wanted: DebianPackage): Entry[] {
  const file = (path: string, text: string, mode = 0o644): Entry => ({
    kind: "file",
    path,
    mode,
    content: Buffer.from(text),
  });
  const scripts = Object.entries(wanted.scripts).map(([name, text]) => file(name, text, 0o755));
  const conffiles = wanted.conffiles.map((path) => `/${path}\n`).join("");
  return [
    file("control", controlText(wanted)),
    file("md5sums", md5sums(wanted)),
    ...(conffiles === "" ? [] : [file("conffiles", conffiles)]),
    ...scripts,
  ];
}

function controlText(wanted: DebianPackage): string {
  const bytes = wanted.entries.reduce(
    (sum, entry) => sum + (entry.kind === "file" ? entry.content.length : 0),
    0,
  );
  const fields = {
    Package: wanted.name,
    Version: wanted.version,
    Architecture: wanted.architecture,
    Maintainer: "Fairlead maintainers <maintainers@fairlead.example>",
    "Installed-Size": String(Math.ceil(bytes / 1024)),
    Depends: wanted.depends.join(", "),
    Section: "admin",
    Priority: "optional",
    Description: `${wanted.summary}\n${wanted.description.replaceAll(/^/gm, " ")}`,
  };
  return Object.entries(fields)
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `${name}: ${value}\n`)
    .join("");
}

/** dpkg keeps its own sums of configuration files. */
const md5sums = ({ entries, conffiles }: DebianPackage): string =>
  entries
    .filter((entry) => entry.kind === "file" && !conffiles.includes(entry.path))
    .map((entry) => {
      const content = entry.kind === "file" ? entry.content : "";
      return `${createHash("md5").update(content).digest("hex")}  ${entry.path}\n`;
    })
    .toSorted()
    .join("");
