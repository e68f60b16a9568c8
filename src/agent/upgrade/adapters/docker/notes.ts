/**
 * What the adapter must remember and no container can say: in one file of the program's folder, written before the
 * change that it is about.
 */
import { join } from "node:path";
import { z } from "zod";
import type { FileSystemPort } from "../../../../host/file-system-port.ts";
import { ensureDirectory, readJsonIfThere, writeJsonDurable } from "../../../../host/files.ts";
import { RestartPolicy } from "./schemas.ts";

const Notes = z.object({
  /** The last start on purpose: a container is started again as another instance. */
  launch: z
    .object({ container: z.string(), key: z.string(), number: z.int().min(1) })
    .nullable()
    .default(null),
  /** The container that was told to end and has not been seen off since. */
  stopping: z.string().nullable().default(null),
  /** The restart policies that were taken from containers while they must stay off, by id. */
  restart: z.record(z.string(), RestartPolicy).default({}),
  /** Ids of containers that were set aside. */
  aside: z.array(z.string()).default([]),
  /** Images that were pulled here, as `repository@sha256:…`. */
  pulled: z.array(z.string()).default([]),
});
export type Notes = z.infer<typeof Notes>;

export interface NoteBook {
  read(): Promise<Notes>;
  change(change: (notes: Notes) => Partial<Notes>): Promise<void>;
}

export function noteBook(folder: string, fs: FileSystemPort): NoteBook {
  const path = join(folder, "docker.json");
  const read = async (): Promise<Notes> => (await readJsonIfThere(path, Notes, fs)) ?? Notes.parse({});
  return {
    read,
    async change(change) {
      const notes = await read();
      await ensureDirectory(folder, 0o700, fs);
      await writeJsonDurable(path, { ...notes, ...change(notes) }, { fs, soleWriter: true });
    },
  };
}

export const withOne = (list: readonly string[], entry: string): string[] => [...new Set([...list, entry])];
