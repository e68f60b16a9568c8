/**
 * `fairlead agent`, and the shim that the agent starts for each program. Each loads what it needs and no more: a node
 * runs as many shims as programs, and starts one for each start of a program.
 */
import "./small-heap.ts";
import { EXIT } from "../core/error-codes.ts";
import { guardStreams } from "../host/standard-streams.ts";
import { FAIRLEAD_VERSION } from "../core/version.ts";

const NODE_MAJOR_MIN = 24;

export async function main(argv: string[], node = process.versions.node): Promise<number> {
  guardStreams(process.stdout, process.stderr);
  if (argv[0] === "--version") {
    process.stdout.write(`${FAIRLEAD_VERSION}\n`);
    return EXIT.ok;
  }
  if (Number.parseInt(node, 10) < NODE_MAJOR_MIN) {
    process.stderr.write(
      `error: the agent needs Node ${NODE_MAJOR_MIN} or newer; ${process.execPath} is Node ${node}\n` +
        `what to do: install Node ${NODE_MAJOR_MIN}, and start the agent with it\n`,
    );
    return EXIT.failed;
  }
  if (argv[0] === "shim" && argv[1] !== undefined) return (await import("./shim/main.ts")).runShim(argv[1]);
  return (await import("./command.ts")).runCommand(argv);
}
