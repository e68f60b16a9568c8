import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { inRoot } from "../../../scripts/root.mjs";
import { correctDriver } from "../../../src/server/db/driver-fix.ts";

test("USE-5: the corrections fit the installed driver; where they no longer do, look whether it still needs them", async () => {
  const source = await readFile(inRoot("node_modules/postgres/src/connection.js"), "utf8");
  const corrected = correctDriver(source);
  expect(corrected).toContain("if (socket === null) {");
  expect(corrected).not.toBe(source);
  expect(correctDriver(corrected!.replace("function nextWrite(fn) {", "function other(fn) {"))).toBeNull();
});
