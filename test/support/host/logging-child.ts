/** Logs a numbered line every 10 ms for as long as it lives, and repeats the newest number in a file. */
import { renameSync, writeFileSync } from "node:fs";
import { createLogger } from "../../../src/host/log.ts";

const [progressFile, padding = "0"] = process.argv.slice(2);
const log = createLogger();
let line = 0;
setInterval(() => {
  log.info("line", { line: ++line, padding: "x".repeat(Number(padding)) });
  writeFileSync(`${progressFile!}.new`, String(line));
  renameSync(`${progressFile!}.new`, progressFile!); // a reader never finds it empty
}, 10);
