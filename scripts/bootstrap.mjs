// `npm run …` on a fresh machine: install what is missing, build what is stale, run a script on Node 24.
//
//   node scripts/bootstrap.mjs [--build] [script [arguments…]]
//
// 1. Runs on any Node from 18 and imports nothing but builtins, so it works before the first install.
// 2. stdout belongs to the script: every word of the bootstrap goes to stderr.
// 3. The script's exit code, or the signal that ended it, becomes ours.

import { ensureInstalled } from "./install.mjs";
import { inRoot } from "./root.mjs";
import { exitLike, findNode24, run } from "./run.mjs";

const args = process.argv.slice(2);
const wantsBuild = args[0] === "--build";
const [script, ...rest] = wantsBuild ? args.slice(1) : args;

try {
  await ensureInstalled();
  const node = findNode24();
  const built = wantsBuild ? await build(node) : { code: 0, signal: null };
  const ended = built.code === 0 && script !== undefined ? await run(node, [script, ...rest]) : built;
  exitLike(ended);
} catch (error) {
  process.stderr.write(`fairlead: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

/**
 * Bundlers need a newer Node than this file does, and print to stdout, which is not ours (2).
 * @param {string} node
 */
function build(node) {
  return run(node, [inRoot("scripts/build.mjs")], { stdio: ["ignore", 2, 2] });
}
