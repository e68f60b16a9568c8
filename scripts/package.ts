/**
 * `npm run package`: agent, command line and server as Debian packages and tarballs, with their sums.
 *
 *   npm run package -- [--out DIR] [--only agent|cli|server]… [--sign-key FILE] [--twice]
 *
 * The same commit makes the same bytes. `--twice` builds everything twice and compares.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { FAIRLEAD_VERSION } from "../src/core/version.ts";
import { sha256Hex } from "../src/trust/digest.ts";
import { signerFromPem } from "../src/trust/keys.ts";
import { signSums, SUMS_FILE, SUMS_SIGNATURE_FILE, sumsText } from "../src/trust/package-sums.ts";
import { compileSources } from "./compile.ts";
import { type Contents, contentsOf, type PackageName } from "./package/contents.ts";
import { deb } from "./package/deb.ts";
import type { Arch } from "./package/node-binary.ts";
import { type Entry, tar } from "./package/tar.ts";
import { zstd } from "./package/zstd.ts";
import { inRoot } from "./root.mjs";

const ARCHES: Readonly<Record<PackageName, readonly Arch[]>> = {
  agent: ["x64", "arm64"],
  cli: ["x64", "arm64"],
  server: ["x64"],
};
const DEBIAN_ARCH = { x64: "amd64", arm64: "arm64" } as const;
const NAMES = Object.keys(ARCHES) as PackageName[];

interface Built {
  readonly name: string;
  readonly content: Buffer;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      out: { type: "string", default: inRoot("dist/packages") },
      only: { type: "string", multiple: true, default: NAMES },
      "sign-key": { type: "string" },
      twice: { type: "boolean", default: false },
    },
  });
  const only = values.only.map(nameOf);
  const keyFile = values["sign-key"];
  const signer = keyFile === undefined ? null : signerFromPem(readFileSync(keyFile, "utf8"));
  const out = resolve(values.out);
  const seconds = sourceDate();
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const sums = new Map<string, string>();
  for (const name of only) {
    for await (const built of build(name, seconds)) {
      sums.set(built.name, sha256Hex(built.content));
      writeFileSync(join(out, built.name), built.content);
      say(`${built.name}  ${(built.content.length / 1e6).toFixed(1)} MB`);
    }
  }
  if (values.twice) await compareWithAnother(only, seconds, sums);
  const text = sumsText({ signedBy: signer?.record.key_id ?? null, files: sums });
  writeFileSync(join(out, SUMS_FILE), text);
  if (signer !== null) writeFileSync(join(out, SUMS_SIGNATURE_FILE), signSums(text, signer));
  else say("unsigned: give --sign-key FILE (`fairlead keys generate` makes one)");
}

async function* build(name: PackageName, seconds: number): AsyncGenerator<Built> {
  if (name === "server") await compileSources();
  if (name === "agent") {
    const bundle = readFileSync(inRoot("dist/agent/fairlead-agent.mjs"));
    yield { name: `fairlead-agent-${FAIRLEAD_VERSION}-node24.mjs`, content: bundle };
  }
  for (const arch of ARCHES[name]) {
    const contents = await contentsOf(name, arch);
    const architecture = DEBIAN_ARCH[arch];
    const folder = `${contents.name}-${FAIRLEAD_VERSION}-linux-${arch}`;
    const [debian, tarball] = await Promise.all([
      deb({ ...contents, version: FAIRLEAD_VERSION, architecture }, seconds),
      zstd(tar(relocated(contents, folder), seconds)),
    ]);
    yield { name: `${contents.name}_${FAIRLEAD_VERSION}_${architecture}.deb`, content: debian };
    yield { name: `${folder}.tar.zst`, content: tarball };
  }
}

/** A tarball holds what a package puts below /usr, for whichever prefix; configuration stays in etc. */
const relocated = ({ entries }: Contents, folder: string): Entry[] =>
  entries.map((entry) => ({ ...entry, path: `${folder}/${entry.path.replace(/^usr\//, "")}` }));

async function compareWithAnother(
  only: readonly PackageName[],
  seconds: number,
  sums: ReadonlyMap<string, string>,
): Promise<void> {
  for (const name of only) {
    for await (const built of build(name, seconds)) {
      if (sums.get(built.name) !== sha256Hex(built.content))
        throw new Error(`${built.name} differs from itself when it is built again`);
    }
  }
  say(`${sums.size} files built twice, and equal`);
}

/** Of the commit, unless the caller says otherwise: https://reproducible-builds.org/specs/source-date-epoch/ */
function sourceDate(): number {
  const given = process.env["SOURCE_DATE_EPOCH"];
  const text =
    given ?? execFileSync("git", ["log", "-1", "--format=%ct"], { cwd: inRoot("."), encoding: "utf8" });
  const seconds = Number(text.trim());
  if (!Number.isSafeInteger(seconds) || seconds < 0)
    throw new Error(`SOURCE_DATE_EPOCH is no number: ${text}`);
  return seconds;
}

function nameOf(text: string): PackageName {
  const name = NAMES.find((one) => one === text);
  if (name === undefined) throw new Error(`--only ${text}: give ${NAMES.join(", ")}`);
  return name;
}

const say = (line: string): void => void process.stderr.write(`fairlead: ${line}\n`);

await main();
