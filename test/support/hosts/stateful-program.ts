/**
 * The hello program with a state on disk, as a stateful node has: a version writes its own format, and one that finds
 * a newer format than its own cannot live with it. A host with the file `cursed` breaks the new version alone.
 */
import { helloProgram } from "../../../src/demo/hello-program.ts";

/** Longer than a start takes to settle: it has started, and crashes then, again and again. */
const CRASH_AFTER_MS = 1_800;

export const CURSE = "opt/hello/data/cursed";
export const STATE = "opt/hello/data/state";

export const statefulProgram = (version: string, format: number): string => `${helloProgram(version)}
const { existsSync, readFileSync, writeFileSync } = require("node:fs");
const FORMAT = ${format};
const found = existsSync("state") ? Number(readFileSync("state", "utf8")) : FORMAT;
if (found <= FORMAT) writeFileSync("state", String(FORMAT));
if (found > FORMAT || (FORMAT > 1 && existsSync("cursed"))) setTimeout(() => process.exit(9), ${CRASH_AFTER_MS});
`;
