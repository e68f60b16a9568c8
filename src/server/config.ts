/** How a server is told what to be: flags, each with its environment variable. */
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { z } from "zod";
import { FairleadError } from "../core/errors.ts";
import type { OidcConfig } from "./auth/oidc.ts";

const HostPort = z
  .string()
  .regex(/^(\[[0-9a-f:]+\]|[A-Za-z0-9.-]+):\d{1,5}$/, "HOST:PORT")
  .transform((text) => {
    const cut = text.lastIndexOf(":");
    return { host: text.slice(0, cut).replace(/^\[|\]$/g, ""), port: Number(text.slice(cut + 1)) };
  });
export type HostPort = z.infer<typeof HostPort>;

const OPTIONS = {
  help: { type: "boolean" },
  embedded: { type: "boolean" },
  ephemeral: { type: "boolean" },
  "data-dir": { type: "string" },
  "database-url": { type: "string" },
  "restate-url": { type: "string" },
  "restate-admin-url": { type: "string" },
  "restate-identity": { type: "string" },
  "handlers-listen": { type: "string" },
  "handlers-url": { type: "string" },
  "keys-dir": { type: "string" },
  "config-dir": { type: "string" },
  listen: { type: "string" },
  "agent-listen": { type: "string" },
  "enroll-listen": { type: "string" },
  name: { type: "string", multiple: true },
  "tls-cert": { type: "string" },
  "tls-key": { type: "string" },
  "public-url": { type: "string" },
  "oidc-issuer": { type: "string" },
  "oidc-audience": { type: "string" },
  "oidc-jwks-url": { type: "string" },
  "log-level": { type: "string" },
} as const;

export interface ServerConfig {
  readonly dataDir: string;
  readonly keysDir: string;
  readonly configDir: string;
  readonly engines:
    | { readonly kind: "embedded"; readonly ephemeral: boolean }
    | {
        readonly kind: "external";
        readonly databaseUrl: string;
        readonly restateUrl: string;
        readonly restateAdminUrl: string;
        readonly identityKey: string | null;
      };
  readonly handlers: { readonly listen: HostPort; readonly url: string | undefined };
  readonly listen: HostPort;
  readonly agentListen: HostPort;
  readonly enrollListen: HostPort;
  readonly names: readonly string[];
  readonly tls: { readonly certFile: string; readonly keyFile: string } | undefined;
  readonly publicUrl: string | undefined;
  readonly oidc: OidcConfig | null;
  readonly logLevel: "debug" | "info" | "warn" | "error";
}

export function parseServerConfig(argv: string[], env: NodeJS.ProcessEnv): ServerConfig | "help" {
  const { values } = parseArgs({ args: argv, options: OPTIONS });
  if (values.help === true) return "help";
  const dataDir = values["data-dir"] ?? env["FAIRLEAD_DATA_DIR"];
  if (dataDir === undefined) throw new FairleadError("INVALID_INPUT", "--data-dir is missing");
  const address = (
    flag: "listen" | "agent-listen" | "enroll-listen" | "handlers-listen",
    otherwise: string,
  ) => checked(HostPort, values[flag] ?? otherwise, `--${flag}`);
  return {
    dataDir: resolve(dataDir),
    keysDir: resolve(values["keys-dir"] ?? join(dataDir, "keys")),
    configDir: resolve(values["config-dir"] ?? join(dataDir, "config")),
    engines: enginesOf(values, env),
    handlers: { listen: address("handlers-listen", "127.0.0.1:0"), url: values["handlers-url"] },
    listen: address("listen", "127.0.0.1:7400"),
    agentListen: address("agent-listen", "127.0.0.1:7401"),
    enrollListen: address("enroll-listen", "127.0.0.1:7402"),
    names: values.name ?? [],
    tls: pair(values["tls-cert"], values["tls-key"]),
    publicUrl: values["public-url"],
    oidc: oidcOf(values),
    logLevel: checked(
      z.enum(["debug", "info", "warn", "error"]),
      values["log-level"] ?? "info",
      "--log-level",
    ),
  };
}

type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>["values"];

function enginesOf(values: Values, env: NodeJS.ProcessEnv): ServerConfig["engines"] {
  const databaseUrl = values["database-url"] ?? env["FAIRLEAD_DATABASE_URL"];
  const restateUrl = values["restate-url"] ?? env["FAIRLEAD_RESTATE_URL"];
  if (values.ephemeral === true && values.embedded !== true) {
    throw new FairleadError("INVALID_INPUT", "--ephemeral goes with --embedded");
  }
  if (values.embedded === true) return { kind: "embedded", ephemeral: values.ephemeral === true };
  if (databaseUrl === undefined || restateUrl === undefined) {
    throw new FairleadError("INVALID_INPUT", "give --embedded, or both --database-url and --restate-url");
  }
  const admin = new URL(restateUrl);
  admin.port = "9070";
  const restateAdminUrl = values["restate-admin-url"] ?? admin.origin;
  return {
    kind: "external",
    databaseUrl,
    restateUrl,
    restateAdminUrl,
    identityKey: values["restate-identity"] ?? null,
  };
}

function pair(certFile: string | undefined, keyFile: string | undefined): ServerConfig["tls"] {
  if (certFile === undefined && keyFile === undefined) return undefined;
  if (certFile !== undefined && keyFile !== undefined) return { certFile, keyFile };
  throw new FairleadError("INVALID_INPUT", "--tls-cert and --tls-key go together");
}

function oidcOf(values: Values): OidcConfig | null {
  const issuer = values["oidc-issuer"];
  const audience = values["oidc-audience"];
  const jwks_uri = values["oidc-jwks-url"];
  if (issuer === undefined && audience === undefined && jwks_uri === undefined) return null;
  if (issuer !== undefined && audience !== undefined && jwks_uri !== undefined)
    return { issuer, audience, jwks_uri };
  throw new FairleadError("INVALID_INPUT", "--oidc-issuer, --oidc-audience and --oidc-jwks-url go together");
}

function checked<T extends z.ZodType>(schema: T, value: string, flag: string): z.infer<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new FairleadError("INVALID_INPUT", `${flag}: ${parsed.error.issues[0]!.message}`);
}
