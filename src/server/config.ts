/** How a server is told what to be: flags, each with its environment variable. */
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { z } from "zod";
import { FairleadError } from "../core/errors.ts";
import { LIMITS } from "../core/limits.ts";
import type { OidcConfig } from "./auth/oidc.ts";
import type { NatsTarget } from "./notify/nats-connection.ts";

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
  "restate-url": { type: "string", multiple: true },
  "restate-admin-url": { type: "string", multiple: true },
  "restate-identity": { type: "string" },
  "handlers-listen": { type: "string" },
  "handlers-url": { type: "string" },
  "handlers-reuse-port": { type: "boolean" },
  "keys-dir": { type: "string" },
  "config-dir": { type: "string" },
  listen: { type: "string" },
  "agent-listen": { type: "string" },
  "enroll-listen": { type: "string" },
  "metrics-listen": { type: "string" },
  name: { type: "string", multiple: true },
  "tls-cert": { type: "string" },
  "tls-key": { type: "string" },
  "public-url": { type: "string" },
  "oidc-issuer": { type: "string" },
  "oidc-audience": { type: "string" },
  "oidc-jwks-url": { type: "string" },
  "maintenance-limit": { type: "string" },
  "webhook-allow-private": { type: "boolean" },
  "nats-url": { type: "string" },
  "nats-credentials": { type: "string" },
  "nats-ca": { type: "string" },
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
        /** One of each per node of the Restate cluster. */
        readonly restateUrls: readonly string[];
        readonly restateAdminUrls: readonly string[];
        readonly identityKey: string | null;
      };
  readonly handlers: {
    readonly listen: HostPort;
    readonly url: string | undefined;
    readonly reusePort: boolean;
  };
  readonly listen: HostPort;
  readonly agentListen: HostPort;
  readonly enrollListen: HostPort;
  /** Null: no metrics are served. */
  readonly metricsListen: HostPort | null;
  readonly names: readonly string[];
  readonly tls: { readonly certFile: string; readonly keyFile: string } | undefined;
  readonly publicUrl: string | undefined;
  readonly oidc: OidcConfig | null;
  readonly maintenanceLimitMs: number;
  readonly webhookAllowPrivate: boolean;
  readonly nats: NatsTarget | null;
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
  const names = values.name ?? [];
  const announced = (flag: "agent-listen" | "enroll-listen", otherwise: string) =>
    refuseNameless(`--${flag}`, address(flag, otherwise), names);
  const metrics = values["metrics-listen"];
  return {
    dataDir: resolve(dataDir),
    keysDir: resolve(values["keys-dir"] ?? join(dataDir, "keys")),
    configDir: resolve(values["config-dir"] ?? join(dataDir, "config")),
    engines: enginesOf(values, env),
    handlers: {
      listen: address("handlers-listen", "127.0.0.1:0"),
      url: values["handlers-url"],
      reusePort: values["handlers-reuse-port"] === true,
    },
    listen: address("listen", "127.0.0.1:7400"),
    agentListen: announced("agent-listen", "127.0.0.1:7401"),
    enrollListen: announced("enroll-listen", "127.0.0.1:7402"),
    metricsListen: metrics === undefined ? null : checked(HostPort, metrics, "--metrics-listen"),
    names,
    tls: pair(values["tls-cert"], values["tls-key"]),
    publicUrl: values["public-url"],
    oidc: oidcOf(values),
    maintenanceLimitMs: minutes(
      values["maintenance-limit"],
      LIMITS.maintenanceLimitMs,
      "--maintenance-limit",
    ),
    webhookAllowPrivate: values["webhook-allow-private"] === true,
    nats: natsOf(values, env),
    logLevel: checked(
      z.enum(["debug", "info", "warn", "error"]),
      values["log-level"] ?? "info",
      "--log-level",
    ),
  };
}

/** Agents and enrollment tokens are told an address. Every interface of a machine is none that another can call. */
function refuseNameless(flag: string, address: HostPort, names: readonly string[]): HostPort {
  const bad = names.find(isEveryInterface);
  if (bad !== undefined)
    throw new FairleadError("INVALID_INPUT", `--name ${bad} is no address that agents can call`);
  if (names.length > 0 || !isEveryInterface(address.host)) return address;
  throw new FairleadError(
    "INVALID_INPUT",
    `${flag} ${address.host}:${address.port} listens on every interface, and agents must be told one address: ` +
      "give --name HOST, a name or an address that they reach this server by",
  );
}

/** In every spelling: `0`, `0x0` and `[::]` are the same. */
function isEveryInterface(host: string): boolean {
  const authority = host.includes(":") ? `[${host}]` : host;
  const shown = URL.canParse(`http://${authority}`) ? new URL(`http://${authority}`).hostname : host;
  return ["0.0.0.0", "[::]", "[::ffff:0:0]"].includes(shown);
}

type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>["values"];

function enginesOf(values: Values, env: NodeJS.ProcessEnv): ServerConfig["engines"] {
  const databaseUrl = values["database-url"] ?? env["FAIRLEAD_DATABASE_URL"];
  const restateUrls = urlsOf("--restate-url", values["restate-url"], env["FAIRLEAD_RESTATE_URL"]);
  if (values.ephemeral === true && values.embedded !== true) {
    throw new FairleadError("INVALID_INPUT", "--ephemeral goes with --embedded");
  }
  if (values.embedded === true) return { kind: "embedded", ephemeral: values.ephemeral === true };
  if (databaseUrl === undefined || restateUrls.length === 0) {
    throw new FairleadError("INVALID_INPUT", "give --embedded, or both --database-url and --restate-url");
  }
  const admins = urlsOf(
    "--restate-admin-url",
    values["restate-admin-url"],
    env["FAIRLEAD_RESTATE_ADMIN_URL"],
  );
  return {
    kind: "external",
    databaseUrl,
    restateUrls,
    restateAdminUrls: admins.length > 0 ? admins : restateUrls.map(adminBeside),
    identityKey: values["restate-identity"] ?? env["FAIRLEAD_RESTATE_IDENTITY"] ?? null,
  };
}

/** Repeated flags, or a list with commas. */
function urlsOf(flag: string, flags: readonly string[] = [], variable = ""): string[] {
  const given = flags.length > 0 ? flags : [variable];
  const urls = given.flatMap((text) => text.split(",")).map((text) => text.trim());
  return urls
    .filter((text) => text !== "")
    .map((text) => checked(z.url({ protocol: /^https?$/ }), text, flag));
}

function adminBeside(restateUrl: string): string {
  const admin = new URL(restateUrl);
  admin.port = "9070";
  return admin.origin;
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

function natsOf(values: Values, env: NodeJS.ProcessEnv): NatsTarget | null {
  const url = values["nats-url"] ?? env["FAIRLEAD_NATS_URL"];
  const { "nats-credentials": credentialsFile, "nats-ca": caFile } = values;
  if (url === undefined && (credentialsFile ?? caFile) !== undefined)
    throw new FairleadError("INVALID_INPUT", "--nats-credentials and --nats-ca go with --nats-url");
  if (url === undefined) return null;
  const servers = url.split(",").map((text) => text.trim());
  for (const text of servers) checked(z.url({ protocol: /^(nats|tls)$/ }), text, "--nats-url");
  // An authority that is never asked would let its owner believe in an encrypted connection.
  if (caFile !== undefined && !servers.some((text) => text.startsWith("tls:")))
    throw new FairleadError("INVALID_INPUT", "--nats-ca goes with a --nats-url of tls://");
  return { url, credentialsFile, caFile };
}

const WEEK_MINUTES = 7 * 24 * 60;
const Minutes = z.coerce.number("a number of minutes").positive().max(WEEK_MINUTES);

function minutes(text: string | undefined, otherwiseMs: number, flag: string): number {
  if (text === undefined) return otherwiseMs;
  return checked(Minutes, text, flag) * 60_000;
}

function checked<T extends z.ZodType>(schema: T, value: string, flag: string): z.infer<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new FairleadError("INVALID_INPUT", `${flag}: ${parsed.error.issues[0]!.message}`);
}
