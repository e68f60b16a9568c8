/**
 * Tar archives whose bytes depend on their content alone.
 *
 * 1. Entries are sorted by name, and owned by root; the time of all of them is given.
 * 2. A folder stands before its content. Folders that no entry names are 0755.
 * 3. Names that ustar cannot hold are refused.
 */

export type Entry = { readonly path: string } & (
  | { readonly kind: "file"; readonly mode: number; readonly content: Uint8Array }
  | { readonly kind: "link"; readonly target: string }
  | { readonly kind: "folder"; readonly mode: number }
);

const BLOCK = 512;
const NAME_BYTES = 100;
const PREFIX_BYTES = 155;
const RECORD = 20 * BLOCK;
const TYPES = { file: "0", link: "2", folder: "5" } as const;

/** `prefix` comes before each path: `./` in a Debian package. */
export function tar(entries: readonly Entry[], seconds: number, prefix = ""): Buffer {
  const all = withFolders(entries).toSorted((a, b) => (a.path < b.path ? -1 : 1)); // (1)
  const parts = all.flatMap((entry) => {
    const header = headerOf(entry, seconds, prefix);
    if (entry.kind !== "file") return [header];
    return [header, entry.content, Buffer.alloc(paddingOf(entry.content.length, BLOCK))];
  });
  const length = parts.reduce((sum, part) => sum + part.length, 0) + 2 * BLOCK;
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK + paddingOf(length, RECORD))]);
}

function withFolders(entries: readonly Entry[]): Entry[] {
  const known = new Map(entries.map((entry) => [entry.path, entry]));
  if (known.size !== entries.length) throw new Error("two entries of an archive share a path");
  for (const { path } of entries) {
    for (let cut = path.lastIndexOf("/"); cut > 0; cut = path.lastIndexOf("/", cut - 1)) {
      const folder = path.slice(0, cut);
      if (!known.has(folder)) known.set(folder, { path: folder, kind: "folder", mode: 0o755 }); // (2)
    }
  }
  return [...known.values()];
}

function headerOf(entry: Entry, seconds: number, archivePrefix: string): Buffer {
  const { name, prefix } = split(`${archivePrefix}${entry.path}${entry.kind === "folder" ? "/" : ""}`);
  const header = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, length: number) =>
    header.write(`${value.toString(8).padStart(length - 1, "0")}\0`, at);
  header.write(name, 0);
  octal(entry.kind === "link" ? 0o777 : entry.mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(entry.kind === "file" ? entry.content.length : 0, 124, 12);
  octal(seconds, 136, 12);
  header.write(TYPES[entry.kind], 156);
  if (entry.kind === "link") header.write(fitting(entry.target, NAME_BYTES), 157);
  header.write("ustar\u000000", 257);
  header.write("root", 265);
  header.write("root", 297);
  header.write(prefix, 345);
  header.fill(" ", 148, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return header;
}

/** (3) */
function split(path: string): { name: string; prefix: string } {
  if (Buffer.byteLength(path) <= NAME_BYTES) return { name: path, prefix: "" };
  for (let cut = path.indexOf("/"); cut !== -1; cut = path.indexOf("/", cut + 1)) {
    const [prefix, name] = [path.slice(0, cut), path.slice(cut + 1)];
    if (name !== "" && Buffer.byteLength(name) <= NAME_BYTES && Buffer.byteLength(prefix) <= PREFIX_BYTES)
      return { name, prefix };
  }
  throw new Error(`the path is too long for an archive: ${path}`);
}

function fitting(text: string, bytesMax: number): string {
  if (Buffer.byteLength(text) > bytesMax) throw new Error(`too long for an archive: ${text}`);
  return text;
}

const paddingOf = (length: number, to: number): number => (to - (length % to)) % to;
