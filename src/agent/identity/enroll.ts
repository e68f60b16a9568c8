/**
 * Enrollment: a node asks for its certificate, and knows whom it asks.
 *
 * 1. The secret is sent only over a connection whose chain ends in the CA that the token pins.
 * 2. The key is on disk before the request: after a lost answer the same key asks again.
 * 3. The trust bundle is believed only when its root is the one that the token pins.
 */
import { isIP } from "node:net";
import { connect } from "node:tls";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import { EnrollPending, EnrollResponse, type EnrollRequest } from "../../core/protocol/agent-api.ts";
import { TrustBundle } from "../../core/snapshot/trust-bundle.ts";
import type { Clock } from "../../host/clock.ts";
import { removeDurable } from "../../host/durable-write.ts";
import type { Digest } from "../../core/ids.ts";
import { createHttpClient, jsonOf, type HttpClient, type HttpResponse } from "../../host/bounded-http.ts";
import { ensureDirectory, readBoundedIfThere, readJsonIfThere, writeJsonDurable } from "../../host/files.ts";
import { digestOf, sha256Hex } from "../../trust/digest.ts";
import { decodeFrame } from "../../trust/frame.ts";
import { caPinOf, parseToken, rootPinOf, type EnrollmentToken } from "../../trust/pins.ts";
import { timeWindow } from "../../trust/node-time.ts";
import { parseBounded } from "../../trust/strict-json.ts";
import { verifySnapshot } from "../../trust/verify-snapshot.ts";
import { serverError } from "../link/server-error.ts";
import { undatedWhen } from "../snapshots/undated.ts";
import { isLoopbackHost } from "../programs/loopback.ts";
import { generateNodeKey, keyIdOfPrivate, requestFor } from "./csr.ts";
import type { Identity } from "./store.ts";

const CONNECT_TIMEOUT_MS = 10_000;
const MACHINE_ID_FILE = "/etc/machine-id";
const PendingKey = z.object({ private_key: z.string() });

export type Enrolled =
  | { readonly kind: "enrolled"; readonly identity: Identity; readonly trustBundle: Buffer }
  /** An operator has to approve the node first: ask again later. */
  | { readonly kind: "pending"; readonly name: string; readonly keyId: string };

export const tokenDigest = (tokenText: string): Digest => digestOf(tokenText.trim());

export interface EnrollOptions {
  readonly enrollUrl: string;
  readonly token: string;
  readonly dataDir: string;
  readonly nodeName?: string | undefined;
}

export async function enroll(
  { enrollUrl, token: tokenText, dataDir, nodeName = hostname() }: EnrollOptions,
  clock: Clock,
): Promise<Enrolled> {
  const token = parseToken(tokenText);
  const ca = await pinnedCa(enrollUrl, token.caPin);
  const privateKey = await pendingKey(pendingKeyPath(dataDir, tokenText));
  const client = createHttpClient({
    origin: new URL(enrollUrl).origin,
    tls: { ca, minVersion: "TLSv1.3" },
    undated: undatedWhen(() => timeWindow(clock.now(), null)),
  });
  try {
    const response = await ask(client, {
      secret: token.secret,
      csr: requestFor(privateKey),
      name: nodeName,
      ...(await machineIdAt(token.clusterId)),
    });
    if (response.status >= 300) throw serverError(response);
    if (response.status === 202) {
      const { name } = EnrollPending.parse(jsonOf(response)).pending;
      return { kind: "pending", name, keyId: keyIdOfPrivate(privateKey) };
    }
    const answer = EnrollResponse.parse(jsonOf(response));
    const { trustBundle, root } = believedBundle(enrollUrl, token, answer, clock.now());
    const { node_id, cluster_id, agent_url, roles, certificate_chain } = answer;
    const told = { node_id, cluster_id, agent_url, roles, certificate_chain };
    const identity = { ...told, token_digest: tokenDigest(tokenText), root, ca, private_key: privateKey };
    return { kind: "enrolled", identity, trustBundle };
  } finally {
    client.close();
  }
}

/** A control plane of before `machine_id` refuses the request that has it, and gets it without. */
async function ask(client: HttpClient, { machine_id, ...older }: EnrollRequest): Promise<HttpResponse> {
  const send = async (json: EnrollRequest) => client.request("/enroll/v1/enroll", { method: "POST", json });
  const response = await send({ ...older, ...(machine_id === undefined ? {} : { machine_id }) });
  return response.status === 400 && machine_id !== undefined ? send(older) : response;
}

/** The machine's id itself stays here: it identifies the machine everywhere, the digest at this site only. */
async function machineIdAt(clusterId: string): Promise<{ machine_id?: string }> {
  const id = (await readBoundedIfThere(MACHINE_ID_FILE, 64))?.toString("utf8").trim();
  if (id === undefined || !/^[0-9a-f]{32}$/.test(id)) return {};
  return { machine_id: sha256Hex(Buffer.from(`${clusterId} ${id}`)).slice(0, 32) };
}

/** Invariant 3, and not an older bundle than the token's maker knew: a key revoked since would be believed again. */
function believedBundle(enrollUrl: string, token: EnrollmentToken, answer: EnrollResponse, now: number) {
  if (answer.cluster_id !== token.clusterId) throw mismatch("the answer names another cluster");
  const trustBundle = Buffer.from(answer.trust_bundle, "base64");
  const content = TrustBundle.safeParse(parseBounded(decodeFrame(trustBundle).content));
  if (!content.success || rootPinOf(content.data.root) !== token.rootPin) {
    throw mismatch("the trust bundle has another root");
  }
  const { root, demo } = content.data;
  if (demo && !isLoopbackHost(new URL(enrollUrl).hostname)) {
    throw new FairleadError("BUNDLE_REFUSED", "a demo trust bundle is for loopback only");
  }
  const verified = verifySnapshot(trustBundle, {
    clusterId: token.clusterId,
    nodeId: answer.node_id,
    roles: answer.roles,
    organizationIds: [],
    epoch: null,
    root,
    bundle: null,
    accepted: () => null,
    time: timeWindow(now, null),
  });
  if (verified.kind === "rejected")
    throw new FairleadError(verified.code, `the trust bundle is refused: ${verified.reason}`);
  if (verified.header.config_version < token.minBundleVersion) {
    throw new FairleadError(
      "BUNDLE_REFUSED",
      `the trust bundle is older than version ${token.minBundleVersion}`,
    );
  }
  return { trustBundle, root };
}

/** Invariant 1: nothing is sent on this first connection; the second one trusts only what was pinned. */
function pinnedCa(enrollUrl: string, pin: string): Promise<string> {
  const { hostname: host, port } = new URL(enrollUrl);
  return new Promise((resolve, reject) => {
    const name = isIP(host) === 0 ? { servername: host } : {};
    const socket = connect({
      host,
      port: Number(port || 443),
      ...name,
      rejectUnauthorized: false,
      minVersion: "TLSv1.3",
    });
    const fail = (error: Error) => {
      socket.destroy();
      reject(error);
    };
    socket.setTimeout(CONNECT_TIMEOUT_MS, () =>
      fail(new FairleadError("TIMEOUT", `${enrollUrl} did not answer in time`)),
    );
    socket.once("error", (cause) =>
      fail(new FairleadError("UNREACHABLE", `${enrollUrl} cannot be reached`, undefined, cause)),
    );
    socket.once("secureConnect", () => {
      const ca = chainOf(socket.getPeerCertificate(true)).find((der) => caPinOf(der) === pin);
      if (ca === undefined)
        return fail(mismatch("its certificate does not lead to the CA that the token names"));
      socket.end();
      resolve(
        `-----BEGIN CERTIFICATE-----\n${ca.toString("base64").replace(/(.{64})/g, "$1\n")}\n-----END CERTIFICATE-----\n`,
      );
    });
  });
}

interface ChainLink {
  readonly raw?: Buffer;
  readonly issuerCertificate?: ChainLink;
}

/** A root names itself as its issuer: the walk ends there, or at a bound. */
function chainOf(leaf: ChainLink): Buffer[] {
  const chain: Buffer[] = [];
  for (
    let at: ChainLink | undefined = leaf;
    at?.raw !== undefined && chain.length < 8;
    at = at.issuerCertificate
  ) {
    chain.push(at.raw);
    if (at.issuerCertificate === at) break;
  }
  return chain;
}

/** One per token: a key that another token was used with is not offered a second time. */
const pendingKeyPath = (dataDir: string, tokenText: string): string =>
  join(dataDir, "identity", `pending-key-${tokenDigest(tokenText).slice(7, 23)}.json`);

/** The key is in the identity now; a second copy of it has no use. */
export const forgetPendingKey = (dataDir: string, tokenText: string): Promise<void> =>
  removeDurable(pendingKeyPath(dataDir, tokenText));

async function pendingKey(path: string): Promise<string> {
  const kept = await readJsonIfThere(path, PendingKey);
  if (kept !== undefined) return kept.private_key;
  const private_key = generateNodeKey();
  await ensureDirectory(dirname(path), 0o700);
  await writeJsonDurable(path, { private_key }, { mode: 0o600 });
  return private_key;
}

const mismatch = (why: string): FairleadError =>
  new FairleadError("PIN_MISMATCH", `enrollment stopped: ${why}`);
