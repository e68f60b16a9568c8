/**
 * Contexts: the sites this machine knows, each in a file of its own.
 *
 * 1. Files are 0600 in a 0700 folder; the API key stands in no other place.
 * 2. Pins were seen at `init`, or came from a colleague: never from what a server says now.
 */
import { join } from "node:path";
import { z } from "zod";
import { FairleadError } from "../core/errors.ts";
import { ClusterId, Name } from "../core/ids.ts";
import { createExclusive, removeDurable, writeDurable } from "../host/durable-write.ts";
import { isMissing } from "../host/file-errors.ts";
import { nodeFileSystem } from "../host/file-system-port.ts";
import {
  ensureDirectory,
  readBoundedIfThere,
  readJson,
  readJsonIfThere,
  writeJsonDurable,
} from "../host/files.ts";
import { homeOf } from "./home.ts";
import type { Io } from "./io.ts";
import { ServerUrl } from "./server-url.ts";

const Hex = z.string().regex(/^[0-9a-f]{64}$/);
const CONTEXT_NAME_BYTES_MAX = 200;

export const Pins = z.strictObject({
  cluster_id: ClusterId,
  ca_pin: Hex,
  root_pin: Hex,
  min_bundle_version: z.int().min(1),
  enroll_url: z.url(),
});
export type Pins = z.infer<typeof Pins>;

export const Context = z.strictObject({
  server: ServerUrl,
  api_key: z.string().min(10).max(200),
  pins: Pins.nullable(),
  release_key_file: z.string().nullable(),
});
export type Context = z.infer<typeof Context>;

export interface NamedContext {
  readonly name: string;
  readonly context: Context;
}

/** Kept apart from the context, so that a refreshed token never writes over pins. */
export const CachedToken = z.strictObject({ token: z.string(), expires_at: z.string() });
export type CachedToken = z.infer<typeof CachedToken>;

export interface ContextStore {
  list(): Promise<string[]>;
  current(): Promise<string | undefined>;
  use(name: string): Promise<void>;
  /** The named one, or the current one. */
  load(name: string | undefined): Promise<NamedContext>;
  has(name: string): Promise<boolean>;
  save(name: string, context: Context): Promise<void>;
  /** Like `save`, for one that exists; the current one stays what it is. */
  update(name: string, context: Context): Promise<void>;
  /** Like `save`, but never over another context. */
  create(name: string, context: Context): Promise<void>;
  remove(name: string): Promise<void>;
  readToken(name: string): Promise<CachedToken | undefined>;
  writeToken(name: string, token: CachedToken | undefined): Promise<void>;
}

export function contextStore(env: Io["env"]): ContextStore {
  const home = homeOf(env);
  const fileOf = (name: string): string => join(home, "contexts", `${nameOf(name)}.json`);
  const tokenOf = (name: string): string => join(home, "tokens", `${nameOf(name)}.json`);
  const currentFile = join(home, "current");

  async function current(): Promise<string | undefined> {
    const bytes = await readBoundedIfThere(currentFile, CONTEXT_NAME_BYTES_MAX);
    return bytes === undefined ? undefined : nameOf(bytes.toString("utf8").trim());
  }

  async function list(): Promise<string[]> {
    try {
      const entries = await nodeFileSystem.readdir(join(home, "contexts"));
      return entries
        .filter((entry) => entry.endsWith(".json"))
        .map((entry) => entry.slice(0, -5))
        .toSorted();
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  }

  const has = async (name: string): Promise<boolean> => (await list()).includes(nameOf(name));

  async function use(name: string): Promise<void> {
    if (!(await has(name))) throw unknownContext(name);
    await writeDurable(currentFile, `${name}\n`);
  }

  return {
    list,
    current,
    use,
    has,
    async load(asked) {
      const name = asked ?? (await current());
      if (name === undefined)
        throw new FairleadError("UNAUTHENTICATED", "no context is chosen: this machine knows no site yet");
      if (!(await has(name))) throw unknownContext(name);
      return { name, context: await readJson(fileOf(name), Context) };
    },
    async save(name, context) {
      await ensureDirectory(join(home, "contexts"));
      await writeJsonDurable(fileOf(name), context); // (1)
      await use(name);
    },
    async update(name, context) {
      if (!(await has(name))) throw unknownContext(name);
      await writeJsonDurable(fileOf(name), context); // (1)
    },
    async create(name, context) {
      await ensureDirectory(join(home, "contexts"));
      const claim = await createExclusive(fileOf(name), `${JSON.stringify(context, undefined, 2)}\n`); // (1)
      if (claim.kind === "exists") throw contextExists(name);
      await use(name);
    },
    async remove(name) {
      if (!(await has(name))) throw unknownContext(name);
      await removeDurable(tokenOf(name));
      await removeDurable(fileOf(name));
      if ((await current()) === name) await removeDurable(currentFile);
    },
    readToken: (name) => readJsonIfThere(tokenOf(name), CachedToken),
    async writeToken(name, token) {
      if (token === undefined) return removeDurable(tokenOf(name));
      await ensureDirectory(join(home, "tokens"));
      await writeJsonDurable(tokenOf(name), token); // (1)
    },
  };
}

/** A name becomes a file's name: no separator, no dot in front. */
function nameOf(text: string): string {
  const parsed = Name.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new FairleadError(
    "INVALID_INPUT",
    `context ${JSON.stringify(text)}: ${parsed.error.issues[0]!.message}`,
  );
}

const unknownContext = (name: string): FairleadError =>
  new FairleadError("NOT_FOUND", `there is no context ${name}: see \`fairlead context list\``, {
    context: name,
  });

export const contextExists = (name: string): FairleadError =>
  new FairleadError(
    "INVALID_INPUT",
    `context ${name} exists already: give another --context, or remove it first`,
  );
