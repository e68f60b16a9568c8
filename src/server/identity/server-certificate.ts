/**
 * The certificate that agents see. It is made anew at each start and lives in memory only; one that runs long
 * is replaced before it expires, without closing a connection.
 *
 * The chain goes up to the root, which TLS would leave out: a new agent looks for its pinned root in it.
 */
import { isIP } from "node:net";
import { hostname } from "node:os";
import { FairleadError } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Clock } from "../../host/clock.ts";
import type { Logger } from "../../host/log.ts";
import { issueLeaf, newP256Key, type SubjectName } from "./certificates.ts";
import type { SiteCa } from "./site-ca.ts";

const lifetimeMs = 90 * 24 * 3_600_000;
const renewBeforeMs = 30 * 24 * 3_600_000;
const lookEveryMs = 60_000;
const HOST_NAME =
  /^(\*\.)?[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$/;

export interface TlsIdentity {
  readonly key: string;
  readonly cert: string;
}

export interface ServerCertificate {
  current(): TlsIdentity;
  onRenewed(use: (identity: TlsIdentity) => void): void;
  close(): void;
}

export interface ServerCertificateOptions {
  readonly ca: SiteCa;
  /** Host names and addresses that agents reach this server by, besides the loopback ones. */
  readonly names: readonly string[];
  readonly clock: Clock;
  readonly log: Logger;
}

export async function createServerCertificate(options: ServerCertificateOptions): Promise<ServerCertificate> {
  const { ca, clock, log } = options;
  const names = subjectNames(options.names);
  const listeners: ((identity: TlsIdentity) => void)[] = [];
  let issuedAt = clock.now();
  let identity = await issue(ca, names, issuedAt);

  async function renewWhenDue(): Promise<void> {
    const now = clock.now();
    // One that was made by a clock that was ahead is not valid yet.
    const isAhead = now < issuedAt - LIMITS.clockDisagreeMs;
    if (now < issuedAt + lifetimeMs - renewBeforeMs && !isAhead) return;
    identity = await issue(ca, names, now);
    issuedAt = now;
    for (const use of listeners) use(identity);
    log.info("server certificate renewed");
  }

  const timer = setInterval(() => {
    renewWhenDue().catch((error: unknown) => log.error("server certificate not renewed", { error }));
  }, lookEveryMs);
  timer.unref();

  return {
    current: () => identity,
    onRenewed: (use) => void listeners.push(use),
    close: () => clearInterval(timer),
  };
}

async function issue(ca: SiteCa, names: readonly SubjectName[], now: number): Promise<TlsIdentity> {
  const { pem, spki } = newP256Key();
  const leaf = await issueLeaf(ca.server, {
    commonName: "Fairlead server",
    names,
    usage: "server",
    spki,
    now,
    lifetimeMs,
    // A server that starts ahead of its nodes must hear them to find out.
    notBefore: ca.server.certificate.notBefore,
  });
  return { key: pem, cert: [leaf.toString("pem"), ca.server.certificatePem, ca.rootPem].join("\n") };
}

function subjectNames(configured: readonly string[]): SubjectName[] {
  const own = HOST_NAME.test(hostname()) ? [hostname()] : [];
  const all = new Set(["127.0.0.1", "::1", "localhost", ...own, ...configured]);
  return [...all].map((value) => {
    if (isIP(value) !== 0) return { type: "ip", value };
    if (HOST_NAME.test(value)) return { type: "dns", value };
    throw new FairleadError(
      "INVALID_INPUT",
      `${JSON.stringify(value)} is neither a host name nor an address`,
    );
  });
}
