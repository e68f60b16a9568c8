/**
 * Reading and keeping small files.
 *
 * 1. Nothing is read without a bound, and nothing through a link at the last place.
 * 2. What a file holds is parsed by a schema before anyone sees it.
 */
import { dirname } from "node:path";
import type { ZodType } from "zod";
import { FairleadError } from "../core/errors.ts";
import { syncDirectory, writeDurable, type WriteOptions } from "./durable-write.ts";
import { errnoOf, isMissing, withFileErrors } from "./file-errors.ts";
import { type FileSystemPort, OPEN_READ, nodeFileSystem } from "./file-system-port.ts";

const JSON_FILE_BYTES_MAX = 8 * 1024 * 1024;
const READ_CHUNK_BYTES = 64 * 1024;

/** The whole file. Codes: FILE_NOT_FOUND, PATH_REFUSED (a link, a folder, a device), PAYLOAD_TOO_LARGE. */
export async function readBounded(
  path: string,
  bytesMax: number,
  fs: FileSystemPort = nodeFileSystem,
): Promise<Buffer> {
  return withFileErrors(`reading ${path}`, async () => {
    const file = await fs.open(path, OPEN_READ);
    try {
      const { kind, sizeBytes } = await file.stat();
      if (kind !== "file") throw new FairleadError("PATH_REFUSED", `reading ${path}: not a regular file`);
      // A file in /proc says 0 and one that grows says too little: the loop below is the bound, this a shortcut.
      if (sizeBytes > bytesMax) throw tooLarge(path, bytesMax);
      const chunks: Buffer[] = [];
      let total = 0;
      for (;;) {
        const chunk = await file.read(Math.min(READ_CHUNK_BYTES, bytesMax - total + 1));
        if (chunk.length === 0) return Buffer.concat(chunks, total);
        total += chunk.length;
        if (total > bytesMax) throw tooLarge(path, bytesMax);
        chunks.push(chunk);
      }
    } finally {
      await file.close();
    }
  });
}

export async function readBoundedIfThere(
  path: string,
  bytesMax: number,
  fs: FileSystemPort = nodeFileSystem,
): Promise<Buffer | undefined> {
  try {
    return await readBounded(path, bytesMax, fs);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** A file that is not JSON, or not of this shape, is INVALID_INPUT; the message never shows what it holds. */
export async function readJson<T>(
  path: string,
  schema: ZodType<T>,
  fs: FileSystemPort = nodeFileSystem,
): Promise<T> {
  return parseJson(path, await readBounded(path, JSON_FILE_BYTES_MAX, fs), schema);
}

export async function readJsonIfThere<T>(
  path: string,
  schema: ZodType<T>,
  fs: FileSystemPort = nodeFileSystem,
): Promise<T | undefined> {
  const bytes = await readBoundedIfThere(path, JSON_FILE_BYTES_MAX, fs);
  return bytes === undefined ? undefined : parseJson(path, bytes, schema);
}

export async function writeJsonDurable(
  path: string,
  value: unknown,
  options: WriteOptions = {},
): Promise<void> {
  await writeDurable(path, `${JSON.stringify(value, undefined, 2)}\n`, options);
}

/** Makes a folder and its parents, each name synced; one that exists keeps its mode. */
export async function ensureDirectory(
  path: string,
  mode = 0o700,
  fs: FileSystemPort = nodeFileSystem,
): Promise<void> {
  await withFileErrors(`making ${path}`, async () => {
    try {
      await fs.mkdir(path, mode);
    } catch (error) {
      if (errnoOf(error) === "EEXIST") return;
      if (!isMissing(error) || dirname(path) === path) throw error;
      await ensureDirectory(dirname(path), mode, fs);
      return ensureDirectory(path, mode, fs);
    }
    await syncDirectory(dirname(path), fs);
  });
}

function parseJson<T>(path: string, bytes: Buffer, schema: ZodType<T>): T {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8"));
  } catch {
    throw new FairleadError("INVALID_INPUT", `${path} is not JSON`);
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const places = parsed.error.issues.map((issue) => `${issue.path.join(".") || "(root)"}: ${issue.code}`);
  throw new FairleadError("INVALID_INPUT", `${path} has the wrong shape at ${places.join(", ")}`);
}

const tooLarge = (path: string, bytesMax: number): FairleadError =>
  new FairleadError("PAYLOAD_TOO_LARGE", `${path} is larger than ${bytesMax} bytes`, { bytesMax });
