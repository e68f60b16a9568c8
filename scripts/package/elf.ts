/**
 * Takes symbols and debug information out of an ELF file, as `strip` does: for each architecture alike, and with the same
 * result whichever binutils a machine has.
 *
 * 1. Only sections that are never loaded go, and only from the end of the section table: indexes of the others stay.
 * 2. A file of another form is refused, never written half.
 */

const MAGIC = Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1]); // ELF, 64 bit, little-endian
const SECTION_BYTES = 64;
const SEGMENT_BYTES = 56;
const ALLOCATED = 2n;
const NO_BITS = 8;

interface Section {
  readonly header: Buffer;
  readonly isAllocated: boolean;
  readonly end: number;
}

export function stripElf(file: Buffer): Buffer {
  if (!file.subarray(0, MAGIC.length).equals(MAGIC)) throw new Error("not a 64-bit little-endian ELF file");
  const sections = sectionsOf(file);
  const kept = sections.slice(0, sections.findLastIndex(({ isAllocated }) => isAllocated) + 1);
  if (kept.length === 0) throw new Error("an ELF file without a section table");
  const names = sections[file.readUInt16LE(62)]!.header;
  const nameBytes = contentOf(file, names);
  const end = align(Math.max(...kept.map((section) => section.end), segmentsEnd(file)), 8);
  const tableAt = align(end + nameBytes.length, 8);

  const header = Buffer.from(names);
  header.writeBigUInt64LE(BigInt(end), 24);
  const stripped = Buffer.alloc(tableAt + (kept.length + 1) * SECTION_BYTES);
  file.copy(stripped, 0, 0, Math.min(end, file.length));
  nameBytes.copy(stripped, end);
  for (const [at, section] of [...kept.map((one) => one.header), header].entries())
    section.copy(stripped, tableAt + at * SECTION_BYTES);
  stripped.writeBigUInt64LE(BigInt(tableAt), 40);
  stripped.writeUInt16LE(kept.length + 1, 60);
  stripped.writeUInt16LE(kept.length, 62);
  return stripped;
}

function sectionsOf(file: Buffer): Section[] {
  const tableAt = Number(file.readBigUInt64LE(40));
  return Array.from({ length: file.readUInt16LE(60) }, (_, at) => {
    const from = tableAt + at * SECTION_BYTES;
    const header = file.subarray(from, from + SECTION_BYTES);
    if (header.length < SECTION_BYTES) throw new Error("an ELF section table beyond the end of its file"); // (2)
    const length = header.readUInt32LE(4) === NO_BITS ? 0 : Number(header.readBigUInt64LE(32));
    return {
      header,
      isAllocated: (header.readBigUInt64LE(8) & ALLOCATED) !== 0n,
      end: Number(header.readBigUInt64LE(24)) + length,
    };
  });
}

/** The bytes that the kernel maps. */
function segmentsEnd(file: Buffer): number {
  const tableAt = Number(file.readBigUInt64LE(32));
  const ends = Array.from({ length: file.readUInt16LE(56) }, (_, at) => {
    const from = tableAt + at * SEGMENT_BYTES;
    return Number(file.readBigUInt64LE(from + 8) + file.readBigUInt64LE(from + 32));
  });
  return Math.max(0, ...ends);
}

function contentOf(file: Buffer, header: Buffer): Buffer {
  const from = Number(header.readBigUInt64LE(24));
  return file.subarray(from, from + Number(header.readBigUInt64LE(32)));
}

const align = (at: number, to: number): number => Math.ceil(at / to) * to;
