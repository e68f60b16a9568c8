/**
 * Keeps a server and an API key, after the server has taken the key.
 *
 * 1. The key is never an argument: arguments stand in `ps` and in the shell's history.
 * 2. Pins already known are kept, and a server of another cluster is refused: PIN_MISMATCH.
 */
import { resolve } from "node:path";
import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import { WhoAmI } from "../../core/protocol/operator-api.ts";
import { openApi } from "../api.ts";
import type { Call, Result } from "../call.ts";
import { contextStore, Pins, type Context } from "../context.ts";
import {
  readNamedFile,
  readSecretFile,
  readSecretStream,
  readOwnSigner,
  secretOf,
} from "../operator-files.ts";
import { optionsOf } from "../options.ts";
import { ServerUrl } from "../server-url.ts";
import { exchangeKey } from "../session.ts";

const Options = z.object({
  server: ServerUrl,
  apiKeyFile: z.string().optional(),
  apiKeyStdin: z.boolean().optional(),
  pins: z.string().optional(),
  releaseKey: z.string().optional(),
  context: z.string(),
});
type Options = z.infer<typeof Options>;

const PINS_BYTES_MAX = 16 * 1024;

export async function run(call: Call): Promise<Result> {
  const options = optionsOf(Options, call.options);
  const store = contextStore(call.io.env);
  const known = (await store.has(options.context)) ? (await store.load(options.context)).context : null;
  const apiKey = await apiKeyOf(options, call);
  const pins = options.pins === undefined ? (known?.pins ?? null) : await readPins(options.pins);
  if (options.releaseKey !== undefined) await readOwnSigner("--release-key", options.releaseKey);

  const token = await exchangeKey(options.server, apiKey);
  const who = await whoIs(options.server, token.token);
  if (pins !== null && pins.cluster_id !== who.cluster_id)
    throw new FairleadError(
      "PIN_MISMATCH",
      `${options.server} says cluster ${who.cluster_id}, not ${pins.cluster_id}`,
    ); // (2)
  const releaseKeyFile =
    options.releaseKey === undefined ? (known?.release_key_file ?? null) : resolve(options.releaseKey);
  const context: Context = {
    server: options.server,
    api_key: apiKey,
    pins,
    release_key_file: releaseKeyFile,
  };
  await store.save(options.context, context);
  await store.writeToken(options.context, token);
  const data = {
    context: options.context,
    server: options.server,
    user: who.user,
    cluster_id: who.cluster_id,
  };
  return {
    data,
    text: `signed in to ${options.server} as ${who.user}; context ${options.context} is the current one`,
  };
}

/** Invariant 1. */
async function apiKeyOf(options: Options, { io }: Call): Promise<string> {
  if (options.apiKeyFile !== undefined && options.apiKeyStdin === true)
    throw new FairleadError("USAGE", "give --api-key-file or --api-key-stdin, not both");
  if (options.apiKeyFile !== undefined) return readSecretFile("--api-key-file", options.apiKeyFile);
  if (options.apiKeyStdin === true) return readSecretStream("--api-key-stdin", io.stdin);
  const fromEnv = io.env["FAIRLEAD_API_KEY"];
  if (fromEnv !== undefined && fromEnv !== "") return secretOf("FAIRLEAD_API_KEY", fromEnv);
  throw new FairleadError("USAGE", "give the key by --api-key-file, --api-key-stdin or FAIRLEAD_API_KEY");
}

async function readPins(path: string): Promise<Pins> {
  const bytes = await readNamedFile("--pins", path, PINS_BYTES_MAX);
  const shown = z.object({ pins: Pins }).safeParse(jsonOrNothing(bytes));
  if (shown.success) return shown.data.pins;
  throw new FairleadError(
    "INVALID_INPUT",
    `--pins ${path}: not what \`fairlead context show --json\` prints`,
  );
}

function jsonOrNothing(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return undefined;
  }
}

async function whoIs(server: string, token: string): Promise<z.infer<typeof WhoAmI>> {
  const api = openApi(server, { token: async () => token, renew: async () => token });
  try {
    return await api.get("/api/v1/whoami", WhoAmI);
  } finally {
    api.close();
  }
}
