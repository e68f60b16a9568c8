/**
 * The site's private keys inside a backup: sealed under a passphrase, or not in it at all.
 *
 * 1. scrypt makes the key, AES-256-GCM seals; the cluster's id is bound in, so that keys of one site are not opened as
 *    another's.
 * 2. What is opened is checked before anything is written, and nothing that lies there is replaced.
 */
import { createCipheriv, createDecipheriv, randomBytes, scrypt } from "node:crypto";
import { join } from "node:path";
import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import type { ClusterId } from "../../core/ids.ts";
import { createExclusive, isTemporaryName, removeDurable } from "../../host/durable-write.ts";
import { isMissing } from "../../host/file-errors.ts";
import { nodeFileSystem } from "../../host/file-system-port.ts";
import { ensureDirectory, readBounded, readBoundedIfThere } from "../../host/files.ts";

const KEY_FILE_BYTES_MAX = 64 * 1024;
const KEY_FILES_MAX = 500;
const DEPTH_MAX = 3;
const PASSPHRASE_CHARS_MIN = 12;
const SCRYPT = { N: 2 ** 17, r: 8, p: 1, maxmem: 192 * 1024 * 1024 } as const;

const Base64 = z.string().regex(/^[A-Za-z0-9+/]*={0,2}$/);
const Sealed = z.strictObject({
  kdf: z.literal("scrypt-131072-8-1"),
  cipher: z.literal("aes-256-gcm"),
  salt: Base64,
  nonce: Base64,
  tag: Base64,
  text: Base64,
});
const KeyFile = z.strictObject({
  /** Below the keys folder. */
  path: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*(?:\/[A-Za-z0-9][A-Za-z0-9._-]*)*$/),
  content: Base64,
});
const KeyFiles = z.array(KeyFile).max(KEY_FILES_MAX);
export type KeyFiles = z.infer<typeof KeyFiles>;

export async function sealKeys(keysDir: string, passphrase: string, clusterId: ClusterId): Promise<Buffer> {
  const files: KeyFiles = [];
  for (const path of await filesIn(keysDir, "", 1)) {
    const content = await readBounded(join(keysDir, path), KEY_FILE_BYTES_MAX);
    files.push({ path, content: content.toString("base64") });
  }
  if (files.length === 0) throw new FairleadError("FILE_NOT_FOUND", `${keysDir} holds no key files`);
  const [salt, nonce] = [randomBytes(32), randomBytes(12)];
  const cipher = createCipheriv("aes-256-gcm", await keyOf(passphrase, salt), nonce);
  cipher.setAAD(Buffer.from(clusterId)); // (1)
  const text = Buffer.concat([cipher.update(JSON.stringify(KeyFiles.parse(files))), cipher.final()]);
  const sealed: z.infer<typeof Sealed> = {
    kdf: "scrypt-131072-8-1",
    cipher: "aes-256-gcm",
    salt: salt.toString("base64"),
    nonce: nonce.toString("base64"),
    tag: cipher.getAuthTag().toString("base64"),
    text: text.toString("base64"),
  };
  return Buffer.from(JSON.stringify(sealed));
}

export async function openKeys(bytes: Buffer, passphrase: string, clusterId: ClusterId): Promise<KeyFiles> {
  const { salt, nonce, tag, text } = sealedIn(bytes);
  const raw = (part: string): Buffer => Buffer.from(part, "base64");
  const key = await keyOf(passphrase, raw(salt));
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, raw(nonce), { authTagLength: 16 });
    decipher.setAAD(Buffer.from(clusterId));
    decipher.setAuthTag(raw(tag));
    const opened = Buffer.concat([decipher.update(raw(text)), decipher.final()]);
    return KeyFiles.parse(JSON.parse(opened.toString("utf8")));
  } catch {
    throw new FairleadError("SITE_PASSPHRASE_WRONG", "the passphrase does not open this backup's key files");
  }
}

function sealedIn(bytes: Buffer): z.infer<typeof Sealed> {
  try {
    return Sealed.parse(JSON.parse(bytes.toString("utf8")));
  } catch {
    throw new FairleadError(
      "SITE_BACKUP_DAMAGED",
      "the backup's key files are not sealed as Fairlead seals them",
    );
  }
}

/** Answers with the way back: what was written here, removed again. */
export async function placeKeys(keysDir: string, files: KeyFiles): Promise<() => Promise<void>> {
  await refuseOthers(keysDir, files); // (2)
  const written: string[] = [];
  const undo = async (): Promise<void> => {
    for (const path of written) await removeDurable(path);
  };
  try {
    for (const { path, content } of files) {
      const target = join(keysDir, path);
      await ensureDirectory(join(target, ".."), 0o700);
      const claim = await createExclusive(target, Buffer.from(content, "base64"), { mode: 0o600 });
      if (claim.kind === "created") written.push(target);
    }
    return undo;
  } catch (error) {
    await undo();
    throw error;
  }
}

async function refuseOthers(keysDir: string, files: KeyFiles): Promise<void> {
  for (const { path, content } of files) {
    const there = await readBoundedIfThere(join(keysDir, path), KEY_FILE_BYTES_MAX);
    if (there === undefined || there.equals(Buffer.from(content, "base64"))) continue;
    throw new FairleadError("SITE_NOT_EMPTY", `${join(keysDir, path)} is another key than the backup's`);
  }
}

/** From a file, of which the last newline is no part. */
export async function readPassphrase(file: string): Promise<string> {
  const text = (await readBounded(file, 4_096)).toString("utf8").replace(/\r?\n$/, "");
  if (text.length >= PASSPHRASE_CHARS_MIN) return text;
  throw new FairleadError(
    "INVALID_INPUT",
    `the passphrase in ${file} is shorter than ${PASSPHRASE_CHARS_MIN} characters`,
  );
}

async function filesIn(root: string, below: string, depth: number): Promise<string[]> {
  const names = await nodeFileSystem.readdir(join(root, below)).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
  const found: string[] = [];
  for (const name of names) {
    const path = below === "" ? name : `${below}/${name}`;
    const { kind } = await nodeFileSystem.lstat(join(root, path));
    if (kind === "file" && !isTemporaryName(name)) found.push(path);
    if (kind === "directory" && depth < DEPTH_MAX) found.push(...(await filesIn(root, path, depth + 1)));
  }
  return found;
}

const keyOf = (passphrase: string, salt: Buffer): Promise<Buffer> =>
  new Promise((done, fail) => {
    scrypt(passphrase.normalize("NFC"), salt, 32, SCRYPT, (error, key) =>
      error === null ? done(key) : fail(error),
    );
  });
