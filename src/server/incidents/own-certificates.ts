/** The certificates that end one day although no node has them: the site's authority, and the operators' address. */
import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import type { SiteCa } from "../identity/site-ca.ts";

export interface OwnCertificate {
  readonly name: string;
  readonly endsAt: number;
}

export interface OwnCertificates {
  /** The same for every replica. */
  readonly site: readonly OwnCertificate[];
  /** Of this server alone. */
  readonly server: readonly OwnCertificate[];
}

export function siteCertificates(ca: SiteCa): OwnCertificate[] {
  const pems = {
    root: ca.rootPem,
    agents: ca.agent.certificatePem,
    peers: ca.peer.certificatePem,
    servers: ca.server.certificatePem,
  };
  return Object.entries(pems).map(([name, pem]) => ({
    name: `the site authority's certificate for ${name}`,
    endsAt: endOf(pem),
  }));
}

/** The file of `--tls-cert`, as the server reads it at its start. */
export async function serverCertificates(certFile: string | undefined): Promise<OwnCertificate[]> {
  if (certFile === undefined) return [];
  return [
    {
      name: `the certificate ${certFile} of server ${hostname()}`,
      endsAt: endOf(await readFile(certFile, "utf8")),
    },
  ];
}

const endOf = (pem: string): number => new X509Certificate(pem).validToDate.getTime();
