// The agent is one file that needs nothing but Node. What it may ask of Node is listed here,
// so that a new power shows up in a review.

import { expect, test } from "vitest";
import { buildAgent } from "../../scripts/build.mjs";
import { readSource } from "./repository.ts";

const ALLOWED = new Set(
  [
    ["assert", "async_hooks", "buffer", "child_process", "crypto", "diagnostics_channel", "dns", "events"],
    ["fs", "fs/promises", "http", "https", "module", "net", "os", "path", "perf_hooks", "process", "sea"],
    ["stream", "stream/promises", "string_decoder", "timers", "timers/promises", "tls", "tty", "url", "util"],
    ["v8", "vm", "worker_threads", "zlib"],
  ].flat(),
);

/** Static and dynamic imports, re-exports, the requires that bundled CommonJS keeps, and builtins asked for by name. */
const IMPORT =
  /^(?:import|export)\b[^"'\n]*?["']([^"'\n]+)["'];?$|\b(?:import|require|__require\w*|getBuiltinModule)\(\s*["']([^"']+)["']\s*\)/gm;

const importsOf = (code: string): string[] =>
  [...new Set([...code.matchAll(IMPORT)].map(([, static_, dynamic]) => static_ ?? dynamic ?? ""))].toSorted();

const refused = (code: string): string[] =>
  importsOf(code).filter((name) => !ALLOWED.has(name.replace(/^node:/, "")));

test("the agent's bundle imports nothing but the builtins on the list", { timeout: 60_000 }, async () => {
  await buildAgent();
  const code = readSource("dist/agent/fairlead-agent.mjs").text;
  expect(importsOf(code).length).toBeGreaterThan(0);
  expect(refused(code)).toEqual([]);
});

test("a package, a local file and a builtin off the list are refused, however they are imported", () => {
  const code = [
    'import { createHash } from "node:crypto";',
    'import fastify from "fastify";',
    'import "./side-effect.mjs";',
    'export { x } from "postgres";',
    'const later = await import("node:inspector");',
    'const old = __require("pg"), fine = __require("fs");',
    'const byName = process.getBuiltinModule("node:repl");',
  ].join("\n");
  expect(refused(code)).toEqual([
    "./side-effect.mjs",
    "fastify",
    "node:inspector",
    "node:repl",
    "pg",
    "postgres",
  ]);
});
