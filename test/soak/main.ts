/**
 * `npm run soak`: see options.ts. The soak itself runs in a process of its own, so that whatever ends it, Ctrl-C included,
 * this one takes away what it left: processes, hosts, mounts and the temporary folder.
 */
import { fileURLToPath } from "node:url";
import { EXIT } from "../../src/core/error-codes.ts";
import { run } from "../../scripts/run.mjs";
import { ensureMachineParts } from "../../scripts/test/machine-parts.ts";
import { inStageFolder } from "../../scripts/test/stage-folder.ts";
import { HELP, readCommandLine } from "./options.ts";

const CHILD = fileURLToPath(new URL("child.ts", import.meta.url));

async function main(argv: readonly string[]): Promise<number> {
  const asked = readCommandLine(argv);
  if (asked === "help") {
    process.stdout.write(HELP);
    return EXIT.ok;
  }
  if ("problem" in asked) {
    process.stderr.write(`fairlead: ${asked.problem}\n\n${HELP}`);
    return EXIT.usage;
  }
  const missing = await ensureMachineParts(["systemd-container", "libfaketime"]);
  if (missing.length > 0) return EXIT.failed;
  return inStageFolder(async (folder) => {
    const env = { ...process.env, TMPDIR: folder };
    const ended = await run(process.execPath, [CHILD, JSON.stringify(asked)], { env });
    return ended.code ?? INTERRUPTED;
  });
}

/** As shells tell it. */
const INTERRUPTED = 130;

process.exitCode = await main(process.argv.slice(2));
