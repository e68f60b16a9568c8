/**
 * How a NATS server's certificate is checked.
 *
 * 1. The library names no host that is an address, and Node would then look for `localhost` in the certificate. It is
 *    looked for the addresses that were given instead.
 */
import { isIP } from "node:net";
import { checkServerIdentity, type PeerCertificate } from "node:tls";
import { readBounded } from "../../host/files.ts";

const AUTHORITY_BYTES_MAX = 64 * 1024;

export interface NatsTls {
  readonly ca?: string;
  readonly checkServerIdentity: typeof checkServerIdentity;
}

/** Null: none was asked for. One `tls://` among several asks for it everywhere. */
export async function natsTls(servers: readonly URL[], caFile: string | undefined): Promise<NatsTls | null> {
  if (!servers.some(({ protocol }) => protocol === "tls:")) return null;
  const hosts = servers.map(({ hostname }) => hostname.replace(/^\[|\]$/g, ""));
  return {
    checkServerIdentity: (name, certificate) => refusalOf(hosts, name, certificate),
    ...(caFile === undefined
      ? {}
      : { ca: (await readBounded(caFile, AUTHORITY_BYTES_MAX)).toString("utf8") }),
  };
}

function refusalOf(hosts: readonly string[], name: string, certificate: PeerCertificate): Error | undefined {
  const names = hosts.includes(name) ? [name] : hosts.filter((host) => isIP(host) !== 0); // (1)
  const refusals = names.map((host) => checkServerIdentity(host, certificate));
  return refusals.includes(undefined) ? undefined : (refusals[0] ?? checkServerIdentity(name, certificate));
}
