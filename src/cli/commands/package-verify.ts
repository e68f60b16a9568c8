/**
 * Compares a folder of packages with its SHA256SUMS, and that list with its signature.
 *
 * 1. Every file is listed and every listed file is there: one that was added is as much a problem as one that changed.
 * 2. With `--key` only a list signed by that key passes. Without it the result says that nobody vouches for the list.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { EXIT } from "../../core/error-codes.ts";
import { FairleadError } from "../../core/errors.ts";
import type { KeyRecord } from "../../core/snapshot/trust-bundle.ts";
import { isMissing } from "../../host/file-errors.ts";
import {
  isSumsSignature,
  type PackageSums,
  parseSums,
  SUMS_FILE,
  SUMS_SIGNATURE_FILE,
} from "../../trust/package-sums.ts";
import type { Call, Result } from "../call.ts";
import { readPublicKey } from "../keys/public-key.ts";
import { readNamedFile } from "../operator-files.ts";
import { optionsOf } from "../options.ts";
import { printable } from "../output.ts";

const Options = z.object({ key: z.string().optional() });
const SUMS_BYTES_MAX = 1024 * 1024;

interface Problem {
  readonly file: string;
  readonly problem: string;
}

export async function run(call: Call): Promise<Result> {
  const folder = call.args[0]!;
  const { key: keyFile } = optionsOf(Options, call.options);
  const key = keyFile === undefined ? null : await readPublicKey("--key", keyFile);
  const names = await namesIn(folder);
  const text = (await readNamedFile("<folder>", join(folder, SUMS_FILE), SUMS_BYTES_MAX)).toString("utf8");
  const sums = parseSums(text);
  const problems = [
    ...(await signatureProblems(folder, names, text, sums, key)),
    ...(await fileProblems(folder, names, sums)),
  ];
  const ok = problems.length === 0;
  const files = [...sums.files].map(([name, sha256]) => ({ name, sha256 }));
  return {
    data: { ok, signed_by: sums.signedBy, signature_checked: key !== null, files, problems },
    text: ok
      ? `${files.length} files are as listed, ${whoVouches(sums, key)}`
      : problems.map(({ file, problem }) => printable(`${file}: ${problem}`)).join("\n"),
    ...(ok ? {} : { notes: "what to do: install nothing from this folder; fetch it again from its source" }),
    exit: ok ? EXIT.ok : EXIT.untrusted,
  };
}

function whoVouches({ signedBy }: PackageSums, key: KeyRecord | null): string {
  if (key !== null) return `signed by key ${key.key_id.slice(0, 12)}`;
  if (signedBy === null) return "and the list is unsigned";
  return `and the list names key ${signedBy.slice(0, 12)}: give --key FILE to check its signature`; // (2)
}

async function signatureProblems(
  folder: string,
  names: readonly string[],
  text: string,
  { signedBy }: PackageSums,
  key: KeyRecord | null,
): Promise<Problem[]> {
  const isThere = names.includes(SUMS_SIGNATURE_FILE);
  if (signedBy === null && isThere)
    return [{ file: SUMS_SIGNATURE_FILE, problem: `is there, and ${SUMS_FILE} says unsigned` }];
  if (signedBy !== null && !isThere)
    return [{ file: SUMS_SIGNATURE_FILE, problem: `is missing, and ${SUMS_FILE} says signed` }];
  if (key === null) return [];
  if (signedBy === null) return [{ file: SUMS_FILE, problem: "is unsigned, and --key was given" }]; // (2)
  if (signedBy !== key.key_id) {
    const [theirs, ours] = [signedBy.slice(0, 12), key.key_id.slice(0, 12)];
    return [{ file: SUMS_FILE, problem: `is signed by key ${theirs}, and --key is ${ours}` }];
  }
  const signature = await readNamedFile("<folder>", join(folder, SUMS_SIGNATURE_FILE), SUMS_BYTES_MAX);
  if (isSumsSignature(text, signature.toString("utf8"), key)) return [];
  return [{ file: SUMS_SIGNATURE_FILE, problem: "is no signature of this list by that key" }];
}

/** (1) */
async function fileProblems(
  folder: string,
  names: readonly string[],
  { files }: PackageSums,
): Promise<Problem[]> {
  const listed = (name: string): boolean =>
    files.has(name) || name === SUMS_FILE || name === SUMS_SIGNATURE_FILE;
  const problems = names.filter((name) => !listed(name)).map((file) => ({ file, problem: "is not listed" }));
  for (const [file, sum] of files) {
    if (!names.includes(file)) problems.push({ file, problem: "is missing" });
    else if ((await sha256OfFile(join(folder, file))) !== sum)
      problems.push({ file, problem: "has another content than was listed" });
  }
  return problems;
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).toSorted();
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new FairleadError(
      "FILE_NOT_FOUND",
      `<folder> ${folder}: there is no such folder`,
      undefined,
      error,
    );
  }
}

async function sha256OfFile(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}
