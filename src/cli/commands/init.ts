/**
 * The first run of a site, from the operator's side.
 *
 * 1. Private keys are made here and stay here; the server gets a signed bundle.
 * 2. Whatever is refused leaves nothing behind. Only an upload without an answer leaves the keys,
 *    because the server may hold the bundle that they signed.
 * 3. The API key goes into the context file and is never shown.
 */
import { resolve } from "node:path";
import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import { BootstrapResponse, InitializeResponse } from "../../core/protocol/operator-api.ts";
import { rootPinOf } from "../../trust/pins.ts";
import { openApi, type Api } from "../api.ts";
import type { Call, Result } from "../call.ts";
import { contextExists, contextStore, type Pins } from "../context.ts";
import { FIRST_BUNDLE_VERSION, signBundle } from "../init/bundle.ts";
import { makeSiteKeys, refuseUsedFolder, type SiteKeys } from "../init/keys.ts";
import { openBundle } from "../keys/believe.ts";
import { keepCopy } from "../keys/bundle-copy.ts";
import { readSecretFile } from "../operator-files.ts";
import { count, optionsOf } from "../options.ts";
import { fields } from "../output.ts";
import { ServerUrl } from "../server-url.ts";

const Options = z.object({
  server: ServerUrl,
  firstRunSecretFile: z.string(),
  keysDir: z.string().min(1),
  rootKeys: count(1, 16),
  rootThreshold: count(1, 16),
  validDays: count(1, 36_500),
  demo: z.boolean().default(false),
  requireIntents: z.boolean(),
  context: z.string(),
});

export async function run(call: Call): Promise<Result> {
  const options = optionsOf(Options, call.options);
  const { server, rootKeys, rootThreshold, context: contextName } = options;
  if (rootThreshold > rootKeys)
    throw new FairleadError("USAGE", `--root-threshold: ${rootThreshold} of ${rootKeys} keys cannot sign`);
  const keysDir = resolve(options.keysDir);
  const store = contextStore(call.io.env);
  if (await store.has(contextName)) throw contextExists(contextName);
  await refuseUsedFolder(keysDir);
  const secret = await readSecretFile("--first-run-secret-file", options.firstRunSecretFile);

  const api = openApi(server, null);
  try {
    const site = await api.post("/api/v1/bootstrap", { first_run_secret: secret }, BootstrapResponse);
    const keys = await makeSiteKeys(keysDir, rootKeys); // (1)
    const { bundle, frame } = await orForget(keys, async () =>
      signBundle({
        site,
        roots: keys.roots,
        threshold: rootThreshold,
        release: keys.release,
        demo: options.demo,
        requireIntents: options.requireIntents,
        validDays: options.validDays,
        now: call.io.now(),
        snapshotId: call.io.randomUuid(),
      }),
    );
    const apiKey = await upload(api, secret, frame, keys, keysDir);
    const pins: Pins = {
      cluster_id: site.cluster_id,
      ca_pin: site.ca_pin,
      root_pin: rootPinOf(bundle.root),
      min_bundle_version: FIRST_BUNDLE_VERSION,
      enroll_url: site.enroll_url,
    };
    await store.create(contextName, { server, api_key: apiKey, pins, release_key_file: keys.releaseFile }); // (3)
    await keepCopy(call.io.env, contextName, openBundle(frame), null);
    const made = {
      context: contextName,
      server,
      ...pins,
      intents_required: bundle.intents_required,
      demo: bundle.demo,
    };
    const data = {
      ...made,
      root_keys: keys.rootFiles,
      root_threshold: rootThreshold,
      release_key: keys.releaseFile,
    };
    return { data, text: summary(data) };
  } finally {
    api.close();
  }
}

async function upload(
  api: Api,
  secret: string,
  frame: Buffer,
  keys: SiteKeys,
  keysDir: string,
): Promise<string> {
  const body = { first_run_secret: secret, trust_bundle: frame.toString("base64") };
  try {
    return (await api.post("/api/v1/bootstrap/trust-bundle", body, InitializeResponse)).api_key;
  } catch (error) {
    const unanswered = error instanceof FairleadError && ["UNREACHABLE", "TIMEOUT"].includes(error.code);
    if (!unanswered) await keys.forget(); // (2)
    else
      throw new FairleadError(
        error.code,
        `${error.message}; the server may hold the bundle: the keys in ${keysDir} are kept`,
        { ...error.detail, keys_dir: keysDir },
        error,
      );
    throw error;
  }
}

async function orForget<T>(keys: SiteKeys, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await keys.forget(); // (2)
    throw error;
  }
}

interface Summary {
  readonly context: string;
  readonly cluster_id: string;
  readonly intents_required: boolean;
  readonly root_keys: readonly string[];
  readonly root_threshold: number;
  readonly release_key: string;
}

const summary = (made: Summary): string =>
  fields([
    ["cluster", made.cluster_id],
    ["context", `${made.context} (the current one)`],
    ["root keys", `${made.root_keys.join(", ")}; ${made.root_threshold} must sign. Take them offline now.`],
    ["release key", made.release_key],
    [
      "intents",
      made.intents_required ? "required" : "not required: the control plane alone decides what runs",
    ],
    ["next", "fairlead node token --name NAME --profile PROFILE --type TYPE"],
  ]);
