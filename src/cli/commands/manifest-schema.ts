/** Prints the JSON Schema of manifests: `# yaml-language-server: $schema=upgrade-manifest.json`. */
import { manifestJsonSchema } from "../../core/manifest/json-schema.ts";
import type { Result } from "../call.ts";

export async function run(): Promise<Result> {
  const schema = manifestJsonSchema();
  return { data: schema, text: JSON.stringify(schema, undefined, 2) };
}
