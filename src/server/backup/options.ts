/** What `fairlead backup` and `fairlead restore` are told. */
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { FairleadError } from "../../core/errors.ts";
import type { SitePlace } from "./site-database.ts";

const OPTIONS = {
  help: { type: "boolean" },
  json: { type: "boolean" },
  out: { type: "string" },
  "data-dir": { type: "string" },
  "database-url": { type: "string" },
  "keys-dir": { type: "string" },
  "with-keys": { type: "boolean" },
  "passphrase-file": { type: "string" },
  "ca-pin": { type: "string" },
  check: { type: "boolean" },
} as const;

export interface BackupOptions {
  readonly place: SitePlace | null;
  readonly keysDir: string | null;
  readonly out: string | null;
  readonly file: string | null;
  readonly withKeys: boolean;
  readonly passphraseFile: string | null;
  /** Of the site that the backup must be of. */
  readonly caPin: string | null;
  readonly check: boolean;
  readonly json: boolean;
}

export function parseOptions(argv: string[], env: NodeJS.ProcessEnv): BackupOptions | "help" {
  const { values, positionals } = parseArgs({ args: argv, options: OPTIONS, allowPositionals: true });
  if (values.help === true) return "help";
  const dataDir = values["data-dir"] ?? env["FAIRLEAD_DATA_DIR"];
  const databaseUrl = values["database-url"] ?? env["FAIRLEAD_DATABASE_URL"];
  const keysDir = values["keys-dir"] ?? (dataDir === undefined ? undefined : join(dataDir, "keys"));
  if (positionals.length > 1) throw new FairleadError("USAGE", "one file at a time");
  return {
    place: placeOf(dataDir, databaseUrl),
    keysDir: keysDir === undefined ? null : resolve(keysDir),
    out: values.out ?? null,
    file: positionals[0] ?? null,
    withKeys: values["with-keys"] === true,
    passphraseFile: values["passphrase-file"] ?? null,
    caPin: pinOf(values["ca-pin"]),
    check: values.check === true,
    json: values.json === true,
  };
}

/** A database's address wins: the data folder beside it then only says where the keys are. */
function placeOf(dataDir: string | undefined, databaseUrl: string | undefined): SitePlace | null {
  if (databaseUrl !== undefined) return { kind: "external", databaseUrl };
  return dataDir === undefined ? null : { kind: "embedded", dataDir: resolve(dataDir) };
}

function pinOf(text: string | undefined): string | null {
  if (text === undefined) return null;
  if (/^[0-9a-f]{64}$/.test(text)) return text;
  throw new FairleadError("USAGE", "--ca-pin is 64 hexadecimal digits: `fairlead context show` prints it");
}

export function needed<T>(value: T | null, what: string): T {
  if (value !== null) return value;
  throw new FairleadError("USAGE", `${what} is missing`);
}
