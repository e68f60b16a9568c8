/** The shim as a program of its own; in the product it is a subcommand of the agent's bundle. */
import { runShim } from "../../../src/agent/shim/main.ts";

process.exit(await runShim(process.argv[2]!));
