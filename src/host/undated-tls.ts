/**
 * TLS for a machine whose clock is unset: every certificate would look as if it were not valid yet (SNAP-17, ADR 21).
 *
 * 1. Nothing is sent before the server has proved itself: the socket is handed over after the checks.
 * 2. Everything that TLS checks is checked but the beginning of validity: chain to the pinned root, use, name, and that no
 *    certificate ended before the last time that is known for certain.
 */
import * as https from "node:https";
import { isIP } from "node:net";
import type { Duplex } from "node:stream";
import { X509Certificate } from "node:crypto";
import { connect, type ConnectionOptions, type TLSSocket } from "node:tls";

export interface Undated {
  /** Whether the clock is unset, asked for each connection. */
  isNeeded(): boolean;
  /** Certificates that ended before this are refused. */
  notBeforeMs(): number;
}

const SERVER_AUTH = "1.3.6.1.5.5.7.3.1";
const CHAIN_MAX = 4;

type Created = (error: Error | null, socket: Duplex) => void;

export class UndatedAgent extends https.Agent {
  readonly #undated: Undated;

  readonly #connectTimeoutMs: number | undefined;

  constructor(options: https.AgentOptions, undated: Undated, connectTimeoutMs?: number) {
    super(options);
    this.#undated = undated;
    this.#connectTimeoutMs = connectTimeoutMs;
  }

  override createConnection(options: https.RequestOptions, created?: Created): Duplex | null | undefined {
    if (!this.#undated.isNeeded() || created === undefined) return super.createConnection(options, created);
    // For an address the server's name is empty.
    const host =
      [options.servername, options.host].find((name) => typeof name === "string" && name !== "") ?? "";
    const socket = connect({ ...(options as ConnectionOptions), rejectUnauthorized: false });
    const fail = (error: Error): void => created(error, socket);
    socket.once("error", fail);
    const stopTimer = this.#boundConnect(socket);
    socket.once("secureConnect", () => {
      stopTimer();
      const why = whyNotTrusted(socket, String(options.ca), host, this.#undated.notBeforeMs());
      if (why !== null) return void socket.destroy(new Error(why));
      socket.removeListener("error", fail);
      created(null, socket); // (1)
    });
    return undefined;
  }

  /** A request has no socket before the checks are done, and so cannot bound the connection itself. */
  #boundConnect(socket: TLSSocket): () => void {
    const timeoutMs = this.#connectTimeoutMs;
    if (timeoutMs === undefined) return () => undefined;
    const timer = setTimeout(
      () => socket.destroy(new Error(`no connection within ${timeoutMs} ms`)),
      timeoutMs,
    );
    socket.once("close", () => clearTimeout(timer));
    return () => clearTimeout(timer);
  }
}

/** (2) */
function whyNotTrusted(socket: TLSSocket, caPem: string, host: string, notBefore: number): string | null {
  const leaf = socket.getPeerX509Certificate();
  if (leaf === undefined) return "the server shows no certificate";
  if (!(leaf.keyUsage as readonly string[] | undefined)?.includes(SERVER_AUTH))
    return "its certificate is not a server's";
  const name = isIP(host) === 0 ? leaf.checkHost(host) : leaf.checkIP(host);
  if (name === undefined) return `its certificate is not for ${host}`;
  return whyNoChain(leaf, new X509Certificate(caPem), notBefore);
}

function whyNoChain(leaf: X509Certificate, root: X509Certificate, notBefore: number): string | null {
  let at = leaf;
  for (let length = 0; length < CHAIN_MAX; length += 1) {
    if (at.validToDate.getTime() <= notBefore) return "a certificate of its chain has expired";
    if (isIssuedBy(at, root)) return null;
    const next = at.issuerCertificate;
    if (next === undefined || !next.ca || !isIssuedBy(at, next)) break;
    at = next;
  }
  return "its certificate does not lead to the pinned authority";
}

const isIssuedBy = (certificate: X509Certificate, issuer: X509Certificate): boolean =>
  certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
