/** Just enough of tar for a layer: folders, files and links with short names. */
export interface TarEntry {
  /** A folder ends with a slash. */
  readonly path: string;
  readonly mode: number;
  readonly content?: Uint8Array;
  readonly link?: string;
}

const BLOCK_BYTES = 512;
const TYPES = { file: "0", link: "2", folder: "5" };

export function tarOf(entries: readonly TarEntry[]): Buffer {
  return Buffer.concat([...entries.flatMap(blocksOf), Buffer.alloc(2 * BLOCK_BYTES)]);
}

function blocksOf(entry: TarEntry): Buffer[] {
  const content = Buffer.from(entry.content ?? []);
  return [headerOf(entry, content.length), content, Buffer.alloc(-content.length & (BLOCK_BYTES - 1))];
}

function headerOf({ path, mode, link = "" }: TarEntry, size: number): Buffer {
  const type = path.endsWith("/") ? "folder" : link === "" ? "file" : "link";
  const header = Buffer.alloc(BLOCK_BYTES);
  const octal = (value: number, at: number, length: number): number =>
    header.write(value.toString(8).padStart(length - 1, "0"), at, "ascii");
  header.write(path, 0, "ascii");
  octal(mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(0, 136, 12);
  header.fill(" ", 148, 156);
  header.write(TYPES[type], 156, "ascii");
  header.write(link, 157, "ascii");
  header.write("ustar\u000000", 257, "ascii");
  octal(
    header.reduce((sum, byte) => sum + byte, 0),
    148,
    7,
  );
  return header;
}
