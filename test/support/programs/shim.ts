/** The shim as a program of its own; in the product it is a subcommand of the agent's bundle. */
import { enableCompileCache } from "node:module";
import { join } from "node:path";

// Before the rest is loaded: tests start hundreds of these, and stripping types is most of what a start costs.
enableCompileCache(join(import.meta.dirname, "../../../.cache/compile"));
const { runShim } = await import("../../../src/agent/shim/main.ts");

process.exit(await runShim(process.argv[2]!));
