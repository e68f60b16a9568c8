#!/usr/bin/env node
// The `fairlead` command. Loads the one program that was asked for, so that `--help` stays quick.

import { existsSync } from "node:fs";
import module from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { exitLike, findNode24, isNode24, run } from "../scripts/run.mjs";

/** @typedef {{ main: (args: string[]) => Promise<number | void> }} Program */

/** @param {string} path */
const beside = (path) => new URL(`../${path}`, import.meta.url);

if (isNode24()) await dispatch(process.argv.slice(2));
else await runOnNode24();

/** @param {string[]} args */
async function dispatch(args) {
  const cache = compileCache();
  if (cache !== undefined) module.enableCompileCache(cache);
  const [program, ...rest] = helpLast(args);
  if (program === "server") return start(moduleFile("server/main"), rest);
  if (program === "backup" || program === "restore")
    return start(moduleFile("server/backup/main"), [program, ...rest]);
  if (program === "agent") return start(agentFile(), rest);
  return start(moduleFile("cli/main"), args);
}

/**
 * `fairlead help server` is `fairlead server --help`: programs of their own know no other word for it.
 *
 * @param {string[]} args
 */
function helpLast(args) {
  const [first, second] = args;
  const programs = ["server", "backup", "restore", "agent"];
  return first === "help" && second !== undefined && programs.includes(second) ? [second, "--help"] : args;
}

/** In the user's own folder: whoever owns a shared one could put other code into it. */
function compileCache() {
  try {
    return join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "fairlead", "compile");
  } catch {
    return undefined; // an account without a home
  }
}

/**
 * A clone runs its sources; packages come with the same modules compiled.
 *
 * @param {string} name
 */
function moduleFile(name) {
  const source = beside(`src/${name}.ts`);
  return existsSync(source) ? source : beside(`lib/${name}.js`);
}

/** Nodes get the bundle; a clone that was never built runs the source. */
function agentFile() {
  const bundle = beside("dist/agent/fairlead-agent.mjs");
  return existsSync(bundle) ? bundle : beside("src/agent/main.ts");
}

/** @param {URL} file @param {string[]} args */
async function start(file, args) {
  const program = /** @type {Program} */ (await import(file.href));
  const code = await program.main(args);
  if (typeof code === "number") process.exitCode = code;
}

async function runOnNode24() {
  try {
    exitLike(await run(findNode24(), [fileURLToPath(import.meta.url), ...process.argv.slice(2)]));
  } catch (error) {
    process.stderr.write(`fairlead: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
