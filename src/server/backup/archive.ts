/**
 * The file that a backup is: a gzipped tar of small entries, so that nothing has to be known before it is written and
 * any tar lists it.
 *
 * 1. No entry is larger than a bound, written or read: memory does not grow with the site.
 * 2. What is read is checked as it comes: names, header sums, sizes, and that the file does not end early.
 */
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { Readable, Transform } from "node:stream";
import { createGunzip, createGzip } from "node:zlib";
import { FairleadError } from "../../core/errors.ts";
import { beginDurableWrite } from "../../host/durable-write.ts";

export interface Entry {
  readonly name: string;
  readonly bytes: Buffer;
}

const ENTRY_BYTES_MAX = 8 * 1024 * 1024;
const BLOCK = 512;
/** Tars end in zeros up to a whole record, which is 10 KiB with most. */
const TRAILING_BYTES_MAX = 64 * 1024;
const NAME = /^[a-z][a-z0-9_./-]{0,98}$/;

/** Durable and whole, or not there. */
export async function writeArchive(path: string, entries: AsyncIterable<Entry>): Promise<void> {
  const writing = await beginDurableWrite(path, { mode: 0o600 });
  try {
    await pipeline(Readable.from(tarOf(entries)), createGzip({ level: 6 }), async (chunks) => {
      for await (const chunk of chunks) await writing.write(chunk as Buffer);
    });
    await writing.commit();
  } finally {
    await writing.abort();
  }
}

async function* tarOf(entries: AsyncIterable<Entry>): AsyncGenerator<Buffer> {
  for await (const { name, bytes } of entries) {
    yield headerOf(name, bytes.length);
    yield bytes;
    yield Buffer.alloc(paddingOf(bytes.length));
  }
  yield Buffer.alloc(2 * BLOCK);
}

function headerOf(name: string, size: number): Buffer {
  if (!NAME.test(name) || size > ENTRY_BYTES_MAX) throw new FairleadError("INTERNAL", `no entry: ${name}`); // (1)
  const header = Buffer.alloc(BLOCK);
  const octal = (value: number, width: number): string => `${value.toString(8).padStart(width - 1, "0")}\0`;
  header.write(name, 0, "ascii");
  header.write(octal(0o600, 8), 100, "ascii");
  header.write(octal(0, 8) + octal(0, 8), 108, "ascii");
  header.write(octal(size, 12) + octal(0, 12), 124, "ascii");
  header.write("0", 156, "ascii");
  header.write("ustar\x0000", 257, "ascii");
  header.write(`${sumOf(header).toString(8).padStart(6, "0")}\0 `, 148, "ascii");
  return header;
}

/** The sum of a header, its own field counted as spaces. */
const sumOf = (header: Buffer): number =>
  header.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 32 : byte), 0);

const paddingOf = (size: number): number => (BLOCK - (size % BLOCK)) % BLOCK;

export async function* readArchive(path: string): AsyncGenerator<Entry> {
  const entries = new EntryParser();
  const reading = pipeline(createReadStream(path), createGunzip(), entries);
  reading.catch((error: unknown) => entries.destroy(damaged(path, error)));
  try {
    for await (const entry of entries) yield entry as Entry;
    await reading.catch((error: unknown) => {
      throw damaged(path, error);
    });
  } catch (error) {
    throw damaged(path, error);
  }
}

export function damaged(path: string, why: unknown): FairleadError {
  if (why instanceof FairleadError) return why;
  const missing = why instanceof Error && "code" in why && why.code === "ENOENT";
  const text = why instanceof Error ? why.message : String(why);
  if (missing) return new FairleadError("FILE_NOT_FOUND", `${path} is not there`);
  return new FairleadError("SITE_BACKUP_DAMAGED", `${path} is damaged or no backup: ${text}`);
}

/** Tar in, entries out, one held at a time. */
class EntryParser extends Transform {
  private held: Buffer = Buffer.alloc(0);
  private ended = false;
  private trailing = 0;

  constructor() {
    super({ readableObjectMode: true, readableHighWaterMark: 1 });
  }

  override _transform(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    try {
      this.held = this.held.length === 0 ? chunk : Buffer.concat([this.held, chunk]);
      while (this.takeOne());
      if (this.ended) this.dropTrailing();
      done();
    } catch (error) {
      done(error as Error);
    }
  }

  override _flush(done: (error?: Error) => void): void {
    done(this.ended ? undefined : new Error("it ends too early"));
  }

  /** After the end nothing is held (1). */
  private dropTrailing(): void {
    this.trailing += this.held.length;
    if (this.trailing > TRAILING_BYTES_MAX || this.held.some((byte) => byte !== 0))
      throw new Error("something comes after its end");
    this.held = Buffer.alloc(0);
  }

  private takeOne(): boolean {
    if (this.ended || this.held.length < BLOCK) return false;
    const header = this.held.subarray(0, BLOCK);
    if (header.every((byte) => byte === 0)) {
      this.ended = true;
      return false;
    }
    const { name, size } = readHeader(header);
    const whole = BLOCK + size + paddingOf(size);
    if (this.held.length < whole) return false;
    this.push({ name, bytes: Buffer.from(this.held.subarray(BLOCK, BLOCK + size)) });
    this.held = this.held.subarray(whole);
    return true;
  }
}

function readHeader(header: Buffer): { name: string; size: number } {
  const text = (from: number, to: number): string =>
    header.subarray(from, to).toString("latin1").replace(/\0.*$/s, "").trim();
  const [name, size, sum] = [text(0, 100), parseInt(text(124, 136), 8), parseInt(text(148, 156), 8)];
  if (sum !== sumOf(header) || !NAME.test(name) || name.includes(".."))
    throw new Error("a header is not ours");
  if (!(size >= 0 && size <= ENTRY_BYTES_MAX)) throw new Error(`${name} is too large`); // (1)
  return { name, size };
}
