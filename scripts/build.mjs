// Builds the two things that do not run from source: the agent's single file and the console's pages.
// Each is skipped while the hash of its inputs is unchanged; the bundlers are not even loaded then.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { withLock } from "./lock.mjs";
import { inRoot } from "./root.mjs";

/**
 * @typedef {object} Target
 * @property {string} name
 * @property {string} entry
 * @property {readonly string[]} inputs files and folders whose content decides the output
 * @property {string} output
 * @property {() => Promise<void>} make
 */

/** @type {Target} */
const agent = {
  name: "agent",
  entry: "src/agent/main.ts",
  inputs: [
    "src/core",
    "src/trust",
    "src/host",
    "src/agent",
    "scripts/build-agent.mjs",
    "scripts/bundle.mjs",
    "package-lock.json",
  ],
  output: "dist/agent/fairlead-agent.mjs",
  make: async () => (await import("./build-agent.mjs")).bundleAgent(),
};

/** @type {Target} */
const console_ = {
  name: "console",
  entry: "src/console/index.html",
  inputs: ["src/core", "src/console", "vite.config.ts", "package-lock.json"],
  output: "dist/console/index.html",
  make: async () => {
    const { build } = await import("vite");
    await build({ configFile: inRoot("vite.config.ts"), logLevel: "warn" });
  },
};

export const buildAgent = () => buildIfStale(agent);
export const buildConsole = () => buildIfStale(console_);

/** @param {Target} target */
export async function buildIfStale(target) {
  if (!existsSync(inRoot(target.entry)))
    throw new Error(`cannot build the ${target.name}: no ${target.entry}`);
  if (isFresh(target)) return; // before the lock: a clone that is not ours to write to still runs
  await withLock(`build-${target.name}`, async () => {
    if (isFresh(target)) return;
    const began = Date.now();
    const stamp = hashOf(target.inputs);
    await target.make();
    mkdirSync(inRoot(".cache/build"), { recursive: true });
    writeFileSync(stampFileOf(target), stamp);
    process.stderr.write(`fairlead: built the ${target.name} in ${Date.now() - began} ms\n`);
  });
}

/** @param {Target} target */
const stampFileOf = (target) => inRoot(`.cache/build/${target.name}`);

/** @param {Target} target */
function isFresh(target) {
  const stampFile = stampFileOf(target);
  return (
    existsSync(inRoot(target.output)) &&
    existsSync(stampFile) &&
    readFileSync(stampFile, "utf8") === hashOf(target.inputs)
  );
}

/** @param {readonly string[]} inputs */
function hashOf(inputs) {
  const hash = createHash("sha256");
  for (const file of inputs.flatMap(filesUnder)) {
    const content = readFileSync(inRoot(file));
    hash.update(`${file}\0${content.length}\0`).update(content);
  }
  return hash.digest("hex");
}

/** @param {string} path @returns {string[]} */
function filesUnder(path) {
  if (!existsSync(inRoot(path))) return [];
  if (!statSync(inRoot(path)).isDirectory()) return [path];
  return readdirSync(inRoot(path))
    .toSorted()
    .flatMap((name) => filesUnder(`${path}/${name}`));
}

if (import.meta.main) {
  await buildAgent();
  await buildConsole();
}
