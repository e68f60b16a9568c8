/** A module beside the caller, for a thread or a process of its own: `.ts` in a clone, `.js` in a package. */
import { extname } from "node:path";

export const siblingModule = (name: string, caller: Pick<ImportMeta, "url" | "filename">): URL =>
  new URL(`./${name}${extname(caller.filename)}`, caller.url);
