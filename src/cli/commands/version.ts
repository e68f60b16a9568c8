import { FAIRLEAD_VERSION as version } from "../../core/version.ts";
import type { Result } from "../call.ts";

export async function run(): Promise<Result> {
  return { data: { version, node: process.version }, text: `fairlead ${version} (node ${process.version})` };
}
