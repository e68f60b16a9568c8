// One run at a time does a piece of work; the others wait for it.
//
// 1. The lock is a file that only one process can create. It names its owner's pid.
// 2. A lock whose owner is gone is taken over, so that a kill -9 blocks nobody.

import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { inRoot } from "./root.mjs";

const pollMs = 200;
const waitMsMax = 10 * 60_000;

/**
 * @template T
 * @param {string} name
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withLock(name, work) {
  const file = inRoot(`.cache/${name}.lock`);
  mkdirSync(inRoot(".cache"), { recursive: true });
  const until = Date.now() + waitMsMax;
  while (!tryCreate(file)) {
    if (Date.now() > until)
      throw new Error(`gave up waiting for process ${ownerOf(file)}, which holds ${file}`);
    if (!isAlive(ownerOf(file))) takeAway(file);
    else await sleep(pollMs);
  }
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}

/** @param {string} file */
function tryCreate(file) {
  try {
    writeFileSync(file, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw error;
  }
}

/** @param {string} file */
function ownerOf(file) {
  try {
    return Number(readFileSync(file, "utf8"));
  } catch {
    return 0; // released since we looked
  }
}

/** @param {number} pid */
function isAlive(pid) {
  // 0: created a moment ago and not yet written to, or just released. Either way, look again.
  if (pid === 0) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !hasCode(error, "ESRCH");
  }
}

/**
 * Moves a dead owner's lock aside. Another run may have done so first and hold a new lock by now:
 * whoever moved a live lock puts it back.
 * @param {string} file
 */
function takeAway(file) {
  const aside = `${file}.${process.pid}`;
  try {
    renameSync(file, aside);
    if (isAlive(ownerOf(aside))) linkSync(aside, file);
  } catch (error) {
    if (!hasCode(error, "ENOENT") && !hasCode(error, "EEXIST")) throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

/** @param {unknown} error @param {string} code */
const hasCode = (error, code) => error instanceof Error && "code" in error && error.code === code;
