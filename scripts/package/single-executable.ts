/**
 * A program and Node in one file (docs/adr/0031).
 *
 * 1. The same sources and the same Node make the same bytes: no path of this machine gets in, and V8 makes its cache of
 *    compiled code with a fixed seed.
 * 2. The cache is of this machine's architecture: files for another one compile their code when they start.
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundle } from "../bundle.mjs";
import { inRoot } from "../root.mjs";
import { demand } from "./demand.ts";
import { stripElf } from "./elf.ts";
import type { Arch } from "./node-binary.ts";

/** The mark that tells Node to look for a program in its own file. */
const FUSE = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";

export interface Program {
  readonly name: string;
  /** Exports `main`. */
  readonly entry: string;
}

export async function singleExecutable(program: Program, arch: Arch, node: Buffer): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), "fairlead-package-"));
  const at = (name: string): string => join(folder, name);
  try {
    await bundle({
      name: program.name,
      start: `
        import { main } from ${JSON.stringify(inRoot(program.entry))};
        void main(process.argv.slice(2)).then((code) => {
          if (typeof code === "number") process.exitCode = code;
        });`,
      file: at(`${program.name}.cjs`),
      format: "cjs",
    });
    const settings = {
      main: `${program.name}.cjs`, // (1)
      output: "blob",
      disableExperimentalSEAWarning: true,
      useCodeCache: arch === process.arch, // (2)
    };
    writeFileSync(at("settings.json"), JSON.stringify(settings));
    demand(process.execPath, ["--random-seed=1", "--experimental-sea-config", "settings.json"], folder);
    const executable = at(program.name);
    writeFileSync(executable, stripElf(node));
    chmodSync(executable, 0o755);
    // In a process of its own: it warns of section names, which is harmless and not for users.
    const postject = inRoot("node_modules/postject/dist/cli.js");
    demand(process.execPath, [postject, executable, "NODE_SEA_BLOB", at("blob"), "--sentinel-fuse", FUSE]);
    return readFileSync(executable);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
