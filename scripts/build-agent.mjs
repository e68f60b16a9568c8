// The agent as one file that a node can run with nothing beside it.

import { bundle } from "./bundle.mjs";
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

export async function bundleAgent() {
  await bundle({
    name: "agent",
    start: START,
    file: inRoot("dist/agent/fairlead-agent.mjs"),
    format: "esm",
    banner: "#!/usr/bin/env node",
  });
}
