/** Templates by name from one folder. A name has no separator, so it cannot leave it. */
import { basename, join } from "node:path";
import { Name } from "../core/ids.ts";
import { LIMITS } from "../core/limits.ts";
import { readBoundedIfThere } from "./files.ts";
import type { ReadTemplate } from "./manifest-file.ts";

export const templateFolder =
  (folder: string): ReadTemplate =>
  async (name) => {
    const file = Name.parse(name);
    const bytes = await readBoundedIfThere(join(folder, file), LIMITS.templateBytesMax);
    return bytes === undefined ? undefined : { file: join(basename(folder), file), bytes };
  };
