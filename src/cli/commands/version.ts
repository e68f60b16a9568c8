import { readFileSync } from "node:fs";
import type { Result } from "../call.ts";

export async function run(): Promise<Result> {
  const text = readFileSync(new URL("../../../package.json", import.meta.url), "utf8");
  const { version } = JSON.parse(text) as { version: string };
  return { data: { version, node: process.version }, text: `fairlead ${version} (node ${process.version})` };
}
