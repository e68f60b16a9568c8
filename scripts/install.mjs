// `npm ci` when the lockfile or the platform differs from what node_modules was made of.
//
// 1. An unchanged tree costs one hash.
// 2. Two runs at once install once: the second waits, then finds the stamp.
// 3. The stamp is written last, so an interrupted install is done again.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { withLock } from "./lock.mjs";
import { inRoot } from "./root.mjs";

const stampFile = inRoot("node_modules/.fairlead-install");

export async function ensureInstalled() {
  const wanted = stampOfLockfile();
  if (readStamp() === wanted) return;
  await withLock("install", async () => {
    if (readStamp() === wanted) return; // (2)
    await npmCi();
    writeFileSync(stampFile, wanted); // (3)
  });
}

function stampOfLockfile() {
  const hash = createHash("sha256");
  hash.update(readFileSync(inRoot("package-lock.json")));
  return hash.update(`${process.platform}-${process.arch}`).digest("hex");
}

const readStamp = () => (existsSync(stampFile) ? readFileSync(stampFile, "utf8") : "");

/** @returns {Promise<void>} */
function npmCi() {
  const began = Date.now();
  const progress = showProgress(
    () => `installing dependencies, ${seconds(began)} s (a first time takes about 30)`,
  );
  // npm tells where it is itself; development tools are wanted whatever NODE_ENV says.
  const npm = process.env["npm_execpath"];
  const args = ["ci", "--include=dev", "--include=optional", "--loglevel=error"];
  const child = npm?.endsWith(".js")
    ? spawn(process.execPath, [npm, ...args], { cwd: inRoot("."), stdio: ["ignore", "pipe", "pipe"] })
    : spawn("npm", args, { cwd: inRoot("."), stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (said += String(chunk)));

  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      progress.end(code === 0 ? `installed dependencies in ${seconds(began)} s` : "npm ci failed");
      if (code === 0) resolve();
      else reject(new Error(`npm ci ended with ${code}:\n${said.trim()}`));
    });
  });
}

/** @param {number} began */
const seconds = (began) => Math.round((Date.now() - began) / 1000);

/**
 * One line that counts on a terminal; a line at the start and one at the end elsewhere.
 * @param {() => string} line
 */
function showProgress(line) {
  const out = process.stderr;
  const draw = () => out.write(`\r\u001b[Kfairlead: ${line()}`);
  if (!out.isTTY) out.write(`fairlead: ${line()}\n`);
  const timer = out.isTTY ? setInterval(draw, 1000) : undefined;
  return {
    /** @param {string} last */
    end(last) {
      clearInterval(timer);
      out.write(`${out.isTTY ? "\r\u001b[K" : ""}fairlead: ${last}\n`);
    },
  };
}
