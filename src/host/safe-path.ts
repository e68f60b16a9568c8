/**
 * A name from outside, turned into a path under a folder of ours, or PATH_REFUSED.
 *
 * 1. The result lies under `root`: no absolute path, no `..`, no NUL.
 * 2. No component below `root` is a link. `root` itself is ours and may be one.
 *
 * The check is made before the use, so `root` must not be writable by whoever could swap a component in between;
 * every open in this folder refuses a link at the last place besides.
 */
import { isAbsolute, join, resolve } from "node:path";
import { FairleadError } from "../core/errors.ts";
import { errnoOf } from "./file-errors.ts";
import { type FileSystemPort, nodeFileSystem } from "./file-system-port.ts";

const PATH_BYTES_MAX = 4_095;
const COMPONENT_BYTES_MAX = 255;

export async function resolveInside(
  root: string,
  relative: string,
  fs: FileSystemPort = nodeFileSystem,
): Promise<string> {
  let path = resolve(root);
  if (Buffer.byteLength(path) + Buffer.byteLength(relative) >= PATH_BYTES_MAX)
    throw refused(relative, "too long");
  for (const component of componentsOf(relative)) {
    path = join(path, component);
    if (await isLink(path, fs)) throw refused(relative, "a component is a symbolic link"); // (2)
  }
  return path;
}

/** The names between the slashes, each of them plain. */
function componentsOf(relative: string): string[] {
  if (relative === "") throw refused(relative, "empty");
  if (relative.includes("\0")) throw refused(relative, "holds NUL");
  if (isAbsolute(relative)) throw refused(relative, "absolute");
  const components = relative.split("/");
  for (const component of components) {
    if (component === "" || component === "." || component === "..")
      throw refused(relative, "not a plain path"); // (1)
    if (Buffer.byteLength(component) > COMPONENT_BYTES_MAX)
      throw refused(relative, "a component is too long");
  }
  return components;
}

async function isLink(path: string, fs: FileSystemPort): Promise<boolean> {
  try {
    return (await fs.lstat(path)).kind === "symlink";
  } catch (error) {
    const errno = errnoOf(error);
    // Not there yet, or below a file: nothing to follow.
    if (errno === "ENOENT" || errno === "ENOTDIR") return false;
    throw error;
  }
}

const refused = (relative: string, why: string): FairleadError =>
  new FairleadError("PATH_REFUSED", `path ${JSON.stringify(relative.slice(0, 200))} refused: ${why}`);
