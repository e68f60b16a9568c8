// Running a child to its end: signals reach it, and its way of ending can be made our own.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const FORWARDED = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]);
/** A Ctrl-C under npm comes twice, from the terminal and from npm: within this time it is one. */
const repeatMs = 500;

/** @typedef {{ code: number | null, signal: NodeJS.Signals | null }} Ended */

/**
 * @param {string} command
 * @param {readonly string[]} args
 * @param {import("node:child_process").SpawnOptions} [options]
 * @returns {Promise<Ended>}
 */
export function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: "inherit", ...options });
    let last = { signal: "", at: 0 };
    /** @param {NodeJS.Signals} signal */
    const forward = (signal) => {
      const at = Date.now();
      if (last.signal !== signal || at - last.at > repeatMs) child.kill(signal);
      last = { signal, at };
    };
    const stopForwarding = () => {
      for (const signal of FORWARDED) process.off(signal, forward);
    };
    for (const signal of FORWARDED) process.on(signal, forward);
    child.once("error", (error) => {
      stopForwarding();
      reject(error);
    });
    child.once("exit", (code, signal) => {
      stopForwarding();
      resolve({ code, signal });
    });
  });
}

/**
 * A caller that waits for us sees what it would have seen of the child.
 * @param {Ended} ended
 */
export function exitLike({ code, signal }) {
  if (signal === null) process.exitCode = code ?? 1;
  else process.kill(process.pid, signal);
}

/**
 * Node 24 comes as an npm package for most platforms. Elsewhere the running one must be new enough.
 * @returns {string}
 */
export function findNode24() {
  const name = `node-${process.platform}-${process.arch}`;
  try {
    const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
    const node = join(dirname(manifest), "bin", "node");
    if (existsSync(node)) return node;
  } catch {
    // Not installed, or there is none for this platform: see below.
  }
  if (isNode24()) return process.execPath;
  throw new Error(
    `Node 24 is needed and this is ${process.version}. ` +
      `Run "npm ci" in the repository (it brings ${name} where npm has one), or install Node 24.`,
  );
}

export const isNode24 = () => Number.parseInt(process.versions.node, 10) >= 24;
