/** Commands on a fresh host, as its operator types them. */
import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Host } from "../hosts/host.ts";

export type FreshHost = ReturnType<typeof onFreshHost>;

export function onFreshHost(host: Host) {
  /** Its output; an exception where it fails. */
  async function sh(command: string): Promise<string> {
    const done = await host.exec("/bin/sh", "-c", `export HOME=/root; ${command}`);
    if (done.kind === "exited" && done.code === 0) return done.stdout.toString().trimEnd();
    const said = "stderr" in done ? `${done.stdout.toString()}${done.stderr.toString()}` : "";
    throw new Error(`${host.name}: ${command}: ${done.kind}: ${said}`);
  }
  return {
    host,
    sh,
    async install(...files: readonly string[]): Promise<void> {
      for (const file of files) await copyFile(file, join(host.shared, basename(file)));
      // Without a sync for each of its thousands of files: the host does not outlive the test.
      await sh(
        `dpkg --force-unsafe-io --install ${files.map((file) => join(host.shared, basename(file))).join(" ")}`,
      );
    },
    async write(path: string, text: string, mode = 0o600): Promise<void> {
      await mkdir(dirname(join(host.root, path)), { recursive: true });
      await writeFile(join(host.root, path), text, { mode });
    },
    /** A property of a unit, as systemctl shows it. */
    show: async (unit: string, property: string) =>
      sh(`systemctl show --value --property=${property} ${unit}`),
  };
}
