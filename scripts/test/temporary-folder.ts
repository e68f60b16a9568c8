// Where tests make their temporary folders. Databases that come and go by the dozen, and programs that sync whatever
// they write, spend more of a test's time on a disk than on what is tested; a process that is killed leaves the same
// files in memory, and what a power cut leaves is shown by file systems that pretend one.

import { readFileSync, statfsSync } from "node:fs";

const IN_MEMORY = "/dev/shm";
/** Both are short enough for a socket in a folder below them. */
const ON_DISK = "/tmp";
/** A site with its engines takes a few hundred megabytes, and several run at once. */
const ROOM_BYTES = 6 * 1024 ** 3;

export function temporaryFolder(): string {
  return mayHoldPrograms() && hasRoom() ? IN_MEMORY : ON_DISK;
}

/** Containers mount it `noexec`, and small. */
function mayHoldPrograms(): boolean {
  try {
    const mounts = readFileSync("/proc/mounts", "utf8").split("\n");
    const options = mounts.map((line) => line.split(" ")).findLast(([, path]) => path === IN_MEMORY)?.[3];
    return options?.split(",").every((option) => option !== "noexec" && option !== "ro") ?? false;
  } catch {
    return false; // not Linux
  }
}

function hasRoom(): boolean {
  const { bavail, bsize } = statfsSync(IN_MEMORY);
  return Math.min(bavail * bsize, process.availableMemory()) >= ROOM_BYTES;
}
