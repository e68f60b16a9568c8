/** Hashing a large file again and again would cost more than an agent may: its stamp tells whether it changed. */
import { lstat } from "node:fs/promises";
import { ifThere } from "./if-there.ts";

export async function stampOf(path: string): Promise<string> {
  const stat = await ifThere(lstat(path, { bigint: true }));
  if (stat === null) return "absent";
  const { dev, ino, size, mtimeNs, ctimeNs } = stat;
  return [dev, ino, size, mtimeNs, ctimeNs].join(".");
}
