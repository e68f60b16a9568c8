// A program as one file: everything but Node's builtins is in it.

import { isBuiltin } from "node:module";
import { rolldown } from "rolldown";
import { inRoot } from "./root.mjs";

/**
 * @typedef {object} Bundle
 * @property {string} name of the start module, as stack traces show it
 * @property {string} start source of the module that starts the program
 * @property {string} file written
 * @property {"esm" | "cjs"} format
 * @property {string} [banner]
 */

/** @param {Bundle} wanted */
export async function bundle({ name, start, file, format, banner = "" }) {
  const startId = `fairlead:${name}-start`;
  const bundled = await rolldown({
    cwd: inRoot("."),
    input: startId,
    platform: "node",
    external: (id) => isBuiltin(id),
    plugins: [
      {
        name: "start",
        resolveId: (id) => (id === startId ? id : null),
        load: (id) => (id === startId ? start : null),
      },
      {
        name: "ascii-only",
        // One character beyond Latin-1 makes V8 keep the whole file in two bytes a character, for as long as it runs.
        renderChunk: (code) => code.replaceAll(/[^\0-\x7f]/g, escaped),
      },
    ],
    // An unresolved import would be left for the node, which cannot satisfy it.
    onLog(level, log, defaultHandler) {
      defaultHandler(log.code === "UNRESOLVED_IMPORT" ? "error" : level, log);
    },
  });
  try {
    await bundled.write({
      file,
      format,
      minify: false,
      codeSplitting: false,
      comments: { legal: true, annotation: false, jsdoc: false },
      banner,
    });
  } finally {
    await bundled.close();
  }
}

/** @param {string} character */
function escaped(character) {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
