/**
 * The site's certificate authority: a root, and one intermediate each for agents, peers and servers, so that
 * a certificate made for one listener is worth nothing on another.
 *
 * 1. Keys and certificates lie in one file that is claimed whole: replicas that start at once share one authority,
 *    and a crash leaves all of it or none.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import { isMissing } from "../../host/file-errors.ts";
import { ensureDirectory } from "../../host/files.ts";
import type { Clock } from "../../host/clock.ts";
import { caPinOf } from "../../trust/pins.ts";
import { anchorOf, issuerOf, makeAuthority, type Issuer, type KeyPairPem } from "./certificates.ts";
import { loadKeyFile, loadOrCreateKeyFile } from "./key-file.ts";

export const SITE_CA_FILE = "site-ca.json";

const YEAR_MS = 365 * 24 * 3_600_000;
const rootLifetimeMs = 20 * YEAR_MS;
const intermediateLifetimeMs = 10 * YEAR_MS;

const Pair = z.strictObject({ key: z.string(), certificate: z.string() });
const SiteCaFile = z.strictObject({
  version: z.literal(1),
  root: Pair,
  agent: Pair,
  peer: Pair,
  server: Pair,
});
type SiteCaFile = z.infer<typeof SiteCaFile>;

export interface SiteCa {
  readonly rootPem: string;
  /** What enrollment tokens carry. */
  readonly pin: string;
  readonly agent: Issuer;
  /** What the agents' listener trusts: the agents' intermediate and nothing beside it. */
  readonly agentAnchorPem: string;
  readonly peer: Issuer;
  readonly server: Issuer;
}

export async function loadOrCreateSiteCa(keysDir: string, clock: Clock): Promise<SiteCa> {
  await ensureDirectory(keysDir);
  const path = join(keysDir, SITE_CA_FILE);
  const text = await loadOrCreateKeyFile(path, async () => JSON.stringify(await makeSiteCa(clock.now()))); // (1)
  const file = parse(path, text);
  const root = issuerOf(file.root);
  const agent = issuerOf(file.agent);
  return {
    rootPem: file.root.certificate,
    pin: caPinOf(new Uint8Array(root.certificate.rawData)),
    agent,
    agentAnchorPem: await anchorOf(agent),
    peer: issuerOf(file.peer),
    server: issuerOf(file.server),
  };
}

/** The root of a site's CA as its key file holds it. */
export interface SiteRoot {
  readonly certificatePem: string;
  readonly privateKeyPem: string;
  readonly pin: string;
}

/** Null where no server has made one. */
export async function readSiteRoot(keysDir: string): Promise<SiteRoot | null> {
  const path = join(keysDir, SITE_CA_FILE);
  try {
    return siteRootOf(path, await loadKeyFile(path));
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

export function siteRootOf(path: string, text: string): SiteRoot {
  const { root } = parse(path, text);
  const pin = caPinOf(new Uint8Array(issuerOf(root).certificate.rawData));
  return { certificatePem: root.certificate, privateKeyPem: root.key, pin };
}

async function makeSiteCa(now: number): Promise<SiteCaFile> {
  const site = randomBytes(4).toString("hex");
  const root = await makeAuthority({
    commonName: `Fairlead site ${site}`,
    issuer: null,
    usages: [],
    now,
    lifetimeMs: rootLifetimeMs,
  });
  const intermediate = (name: string, usages: readonly ("client" | "server")[]): Promise<KeyPairPem> =>
    makeAuthority({
      commonName: `Fairlead site ${site} ${name}`,
      issuer: issuerOf(root),
      usages,
      now,
      lifetimeMs: intermediateLifetimeMs,
    });
  return {
    version: 1,
    root,
    agent: await intermediate("agents", ["client"]),
    peer: await intermediate("peers", ["client", "server"]),
    server: await intermediate("servers", ["server"]),
  };
}

function parse(path: string, text: string): SiteCaFile {
  try {
    return SiteCaFile.parse(JSON.parse(text));
  } catch {
    throw new FairleadError("INVALID_INPUT", `${path} is not a site authority's file`);
  }
}
