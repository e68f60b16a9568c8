/** All packages, made once for the tests that install them. Each run of the tests finds them while nothing has changed. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { buildAgent, buildConsole, buildIfStale } from "../../../scripts/build.mjs";
import { inRoot } from "../../../scripts/root.mjs";
import { FAIRLEAD_VERSION } from "../../../src/core/version.ts";

const FOLDER = ".cache/packages";

export async function builtPackages(): Promise<string> {
  await buildAgent();
  await buildConsole();
  await buildIfStale({
    name: "packages",
    entry: "scripts/package.ts",
    inputs: [
      "src",
      "bin",
      "packaging",
      "scripts",
      "package.json",
      "package-lock.json",
      "tsconfig.compile.json",
    ],
    output: `${FOLDER}/SHA256SUMS`,
    make: async () => makePackages("--out", inRoot(FOLDER)),
  });
  return inRoot(FOLDER);
}

/** At a fixed date, so that those of two calls can be compared. */
export function makePackages(...args: readonly string[]): void {
  const { status, stderr } = spawnSync(process.execPath, [inRoot("scripts/package.ts"), ...args], {
    env: { ...process.env, SOURCE_DATE_EPOCH: "1700000000" },
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`the packages were not made:\n${stderr}`);
}

export const debianFile = (folder: string, name: string): string =>
  join(folder, `${name}_${FAIRLEAD_VERSION}_amd64.deb`);

/** Of a tarball: an executable, in a folder of the caller's. */
export function unpackExecutable(folder: string, name: string, arch: "x64" | "arm64", into: string): string {
  const release = `${name}-${FAIRLEAD_VERSION}-linux-${arch}`;
  const args = ["--zstd", "-xf", join(folder, `${release}.tar.zst`), "-C", into, `${release}/bin/${name}`];
  const { status, stderr } = spawnSync("tar", args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${release} was not unpacked: ${stderr}`);
  return join(into, release, "bin", name);
}
