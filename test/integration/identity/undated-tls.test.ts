// An agent whose clock is unset connects to its control plane, and to nobody else (SNAP-17).

import { mkdtemp, rm } from "node:fs/promises";
import { createServer as createTcpServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer, type Server } from "node:https";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../../src/host/clock.ts";
import { createHttpClient } from "../../../src/host/bounded-http.ts";
import {
  issueLeaf,
  newP256Key,
  type Issuer,
  type LeafRequest,
} from "../../../src/server/identity/certificates.ts";
import { loadOrCreateSiteCa, type SiteCa } from "../../../src/server/identity/site-ca.ts";

const DAY_MS = 24 * 3_600_000;
const servers: Server[] = [];
let folder: string;
let ca: SiteCa;
let foreign: SiteCa;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fairlead-undated-"));
  ca = await loadOrCreateSiteCa(join(folder, "ours"), systemClock);
  foreign = await loadOrCreateSiteCa(join(folder, "foreign"), systemClock);
});
afterAll(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  await rm(folder, { recursive: true });
});

/** A server with a certificate of that kind; what was asked of it. */
async function serve(
  issuer: Issuer,
  chain: readonly string[],
  changes: Partial<LeafRequest> = {},
  replyAfterMs = 0,
) {
  const { pem, spki } = newP256Key();
  const leaf = await issueLeaf(issuer, {
    commonName: "server",
    names: [{ type: "ip", value: "127.0.0.1" }],
    usage: "server",
    spki,
    now: Date.now(),
    lifetimeMs: 90 * DAY_MS,
    ...changes,
  });
  const asked: string[] = [];
  const server = createServer(
    { key: pem, cert: [leaf.toString("pem"), ...chain].join("\n") },
    (request, reply) => {
      asked.push(request.url!);
      setTimeout(() => reply.end("{}"), replyAfterMs);
    },
  );
  servers.push(server);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return { asked, origin: `https://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

interface Asking {
  readonly isNeeded?: boolean;
  readonly notBeforeMs?: number;
  readonly connectTimeoutMs?: number;
}

const get = async (origin: string, { isNeeded = true, notBeforeMs = 0, connectTimeoutMs }: Asking = {}) => {
  const client = createHttpClient({
    origin,
    ...(connectTimeoutMs === undefined ? {} : { connectTimeoutMs }),
    tls: { ca: ca.rootPem, minVersion: "TLSv1.3" },
    undated: { isNeeded: () => isNeeded, notBeforeMs: () => notBeforeMs },
  });
  try {
    return (await client.request("/who")).status;
  } finally {
    client.close();
  }
};

const ours = (changes: Partial<LeafRequest> = {}, replyAfterMs = 0) =>
  serve(ca.server, [ca.server.certificatePem, ca.rootPem], changes, replyAfterMs);

test("SNAP-17: a certificate that begins in the future is taken when the clock is unset, and refused when it is not", async () => {
  const { origin, asked } = await ours({ now: Date.now() + 400 * DAY_MS });
  await expect(get(origin, { isNeeded: false })).rejects.toMatchObject({ code: "UNREACHABLE" });
  expect(asked).toEqual([]);
  expect(await get(origin)).toBe(200);
  expect(asked).toEqual(["/who"]);
});

test.each<[string, () => Promise<{ origin: string; asked: string[] }>, { notBeforeMs?: number }?]>([
  [
    "a certificate of another site",
    () => serve(foreign.server, [foreign.server.certificatePem, foreign.rootPem]),
  ],
  [
    "another site's certificate beside our own chain",
    () => serve(foreign.server, [ca.server.certificatePem, ca.rootPem]),
  ],
  ["a node's certificate", () => serve(ca.agent, [ca.agent.certificatePem, ca.rootPem], { usage: "client" })],
  ["a certificate for another name", () => ours({ names: [{ type: "dns", value: "elsewhere.example" }] })],
  [
    "a certificate that ended before the last time that is known",
    () => ours({ now: Date.now() - 100 * DAY_MS, lifetimeMs: DAY_MS }),
    { notBeforeMs: Date.now() },
  ],
])("SNAP-17: with the clock unset, nothing is sent to a server with %s", async (_what, start, options) => {
  const { origin, asked } = await start();
  await expect(get(origin, options)).rejects.toMatchObject({ code: "UNREACHABLE" });
  expect(asked).toEqual([]);
});

const CONNECT_TIMEOUT_MS = 1_000;

test.each([true, false])(
  "SNAP-17: a reply that takes longer than a connection may take arrives (clock unset: %s)",
  async (isNeeded) => {
    const { origin } = await ours({}, 2 * CONNECT_TIMEOUT_MS);
    expect(await get(origin, { isNeeded, connectTimeoutMs: CONNECT_TIMEOUT_MS })).toBe(200);
  },
);

test.each([true, false])(
  "SNAP-17: a server that never answers the TLS handshake is given up within the connect timeout (clock unset: %s)",
  async (isNeeded) => {
    const closed = Promise.withResolvers<void>();
    const silent = createTcpServer((socket) => void socket.resume().once("close", () => closed.resolve()));
    await new Promise<void>((listening) => silent.listen(0, "127.0.0.1", listening));
    const origin = `https://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    await expect(get(origin, { isNeeded, connectTimeoutMs: CONNECT_TIMEOUT_MS })).rejects.toThrow(
      `no connection within ${CONNECT_TIMEOUT_MS} ms`,
    );
    await closed.promise;
    silent.close();
  },
);
