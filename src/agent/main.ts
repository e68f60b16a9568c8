/**
 * `fairlead agent`, and the shim that the agent starts for each program. Each loads what it needs and no more: a node
 * runs as many shims as programs, and starts one for each start of a program.
 */
import "./small-heap.ts";
import { guardStreams } from "../host/standard-streams.ts";

export async function main(argv: string[]): Promise<number> {
  guardStreams(process.stdout, process.stderr);
  if (argv[0] === "shim" && argv[1] !== undefined) return (await import("./shim/main.ts")).runShim(argv[1]);
  return (await import("./command.ts")).runCommand(argv);
}
