/**
 * The two files that Fairlead keeps beside a unit, in `UNIT.d/` of systemd's own folder.
 *
 * 1. Each changes as a whole or not at all, and is durable before systemd is told to read it.
 * 2. Neither the folder nor a file in it is a link.
 */
import { dirname } from "node:path";
import { removeDurable, temporaryOf, writeDurable } from "../../../../host/durable-write.ts";
import type { FileSystemPort } from "../../../../host/file-system-port.ts";
import { ensureDirectory, readBoundedIfThere } from "../../../../host/files.ts";
import { resolveInside } from "../../../../host/safe-path.ts";
import type { SystemdProgram } from "../../../programs/config.ts";
import { dropInText, type Launch, launchOf, STOPPED_TEXT } from "./drop-in.ts";

const RUN_FILE = "50-fairlead.conf";
const STOPPED_FILE = "90-fairlead-stopped.conf";
const BYTES_MAX = 4 * 1024 * 1024;
/** As all unit files: systemd shows what is in them to everyone anyway. */
const MODE = 0o644;

export interface DropInFiles {
  /** Where the run lies, for backups. */
  runPath(): Promise<string>;
  /** What was last written; undefined when nothing was. */
  launch(): Promise<Launch | undefined>;
  writeLaunch(launch: Launch): Promise<void>;
  isHeld(): Promise<boolean>;
  hold(): Promise<void>;
  release(): Promise<void>;
}

export function dropInFiles(program: SystemdProgram, systemdDir: string, fs: FileSystemPort): DropInFiles {
  const resolve = async (name: string): Promise<string> =>
    resolveInside(systemdDir, `${program.unit}.d/${name}`, fs); // (2)

  async function write(name: string, text: string): Promise<void> {
    const path = await resolve(name);
    await ensureDirectory(dirname(path), 0o755, fs);
    await writeDurable(path, text, { fs, soleWriter: true, mode: MODE }); // (1)
  }
  async function remove(name: string): Promise<void> {
    const path = await resolve(name);
    await removeDurable(temporaryOf(path), fs);
    await removeDurable(path, fs);
  }
  const read = async (name: string): Promise<string | undefined> =>
    (await readBoundedIfThere(await resolve(name), BYTES_MAX, fs))?.toString("utf8");

  return {
    runPath: async () => resolve(RUN_FILE),
    async launch() {
      const text = await read(RUN_FILE);
      return text === undefined ? undefined : launchOf(text);
    },
    writeLaunch: async (launch) => write(RUN_FILE, dropInText(launch, program)),
    isHeld: async () => (await read(STOPPED_FILE)) !== undefined,
    hold: async () => write(STOPPED_FILE, STOPPED_TEXT),
    release: async () => remove(STOPPED_FILE),
  };
}
