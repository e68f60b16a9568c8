/** Hashing a large file again and again would cost more than an agent may: its stamp tells whether it changed. */
import { lstat } from "node:fs/promises";

export async function stampOf(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await lstat(path, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(".");
  } catch {
    return "absent";
  }
}
