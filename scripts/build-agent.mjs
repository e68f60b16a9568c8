// The agent as one file that a node can run with nothing beside it.

import { isBuiltin } from "node:module";
import { rolldown } from "rolldown";
import { inRoot } from "./root.mjs";

/**
 * Imported by the `fairlead` command, the bundle offers main; started by itself, it calls it. A Node that is too old does
 * not know `import.meta.main` and has to be told so, too: its users would see nothing happen.
 */
const START = `
  import { realpathSync } from "node:fs";
  import { fileURLToPath } from "node:url";
  import { main } from "${inRoot("src/agent/main.ts")}";
  export { main };
  const isStarted = () =>
    process.argv[1] !== undefined && realpathSync(process.argv[1]) === realpathSync(fileURLToPath(import.meta.url));
  if (import.meta.main ?? isStarted()) {
    const code = await main(process.argv.slice(2));
    if (typeof code === "number") process.exitCode = code;
  }
`;
const startId = "fairlead:agent-start";

export async function bundleAgent() {
  const bundle = await rolldown({
    cwd: inRoot("."),
    input: startId,
    platform: "node",
    external: (id) => isBuiltin(id),
    plugins: [
      {
        name: "agent-start",
        resolveId: (id) => (id === startId ? id : null),
        load: (id) => (id === startId ? START : null),
      },
      {
        name: "ascii-only",
        // One character beyond Latin-1 makes V8 keep the whole file in two bytes a character, for as long as it runs.
        renderChunk: (code) => code.replaceAll(/[^\0-\x7f]/g, escaped),
      },
    ],
    // What cannot be resolved would be left as an import that no node can satisfy.
    onLog(level, log, defaultHandler) {
      defaultHandler(log.code === "UNRESOLVED_IMPORT" ? "error" : level, log);
    },
  });
  try {
    await bundle.write({
      file: inRoot("dist/agent/fairlead-agent.mjs"),
      format: "esm",
      minify: false,
      codeSplitting: false,
      comments: { legal: true, annotation: false, jsdoc: false },
      banner: "#!/usr/bin/env node",
    });
  } finally {
    await bundle.close();
  }
}

/** @param {string} character */
function escaped(character) {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
