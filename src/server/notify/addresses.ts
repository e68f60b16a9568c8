/**
 * Where the server may be made to call. A webhook's address is an administrator's, and still must not become a way to
 * what only this machine can reach.
 *
 * 1. Link-local, cloud metadata, unspecified and multicast addresses are refused whatever the settings.
 * 2. Loopback and private addresses are refused unless the server was started with --webhook-allow-private.
 * 3. The address that was looked at is the address that is called: names are resolved once, for the connection.
 */
import { lookup as resolve, type LookupAddress } from "node:dns";
import { BlockList, isIP, isIPv4, isIPv6, type LookupFunction } from "node:net";
import { FairleadError } from "../../core/errors.ts";

const never = new BlockList();
never.addSubnet("0.0.0.0", 8, "ipv4");
never.addSubnet("169.254.0.0", 16, "ipv4");
never.addSubnet("224.0.0.0", 3, "ipv4");
never.addSubnet("192.0.0.0", 24, "ipv4"); // protocols' own addresses; a cloud keeps its metadata there
never.addAddress("100.100.100.200", "ipv4"); // a cloud's metadata, outside of link-local
never.addAddress("168.63.129.16", "ipv4"); // the same
never.addAddress("::", "ipv6");
never.addSubnet("fe80::", 10, "ipv6");
never.addSubnet("fec0::", 10, "ipv6");
never.addSubnet("ff00::", 8, "ipv6");
for (const metadata of ["fd00:ec2::254", "fd20:ce::254", "fd00:c1::a9fe:a9fe"])
  never.addAddress(metadata, "ipv6");
// These stand for IPv4 addresses that a gateway picks: the lists above would not see them.
never.addSubnet("::ffff:0:0:0", 96, "ipv6");
never.addSubnet("64:ff9b::", 96, "ipv6");
never.addSubnet("64:ff9b:1::", 48, "ipv6");
never.addSubnet("2002::", 16, "ipv6");
never.addSubnet("2001::", 32, "ipv6");

const inside = new BlockList();
inside.addSubnet("127.0.0.0", 8, "ipv4");
inside.addSubnet("10.0.0.0", 8, "ipv4");
inside.addSubnet("172.16.0.0", 12, "ipv4");
inside.addSubnet("192.168.0.0", 16, "ipv4");
inside.addSubnet("100.64.0.0", 10, "ipv4");
inside.addSubnet("198.18.0.0", 15, "ipv4");
inside.addAddress("::1", "ipv6");
inside.addSubnet("fc00::", 7, "ipv6");

/** BlockList knows IPv4-mapped IPv6 addresses as the IPv4 ones they are; the deprecated compatible form it does not. */
function isIn(list: BlockList, address: string): boolean {
  if (isIPv4(address)) return list.check(address, "ipv4");
  return isIPv6(address) && list.check(address, "ipv6");
}

const isCompatible = (address: string): boolean => /^::[0-9a-f]{1,4}(:[0-9a-f]{1,4})?$/i.test(address);

export function mayCall(address: string, allowPrivate: boolean): boolean {
  if (isIP(address) === 0 || isIn(never, address)) return false; // (1)
  if (isIn(inside, address)) return allowPrivate; // (2)
  return !isCompatible(address);
}

/** A URL that a webhook may have; throws INVALID_INPUT. A name in it is looked at again with each call. */
export function checkWebhookUrl(text: string, allowPrivate: boolean): URL {
  const url = URL.parse(text);
  const refuse = (why: string) =>
    new FairleadError("INVALID_INPUT", `body.url: ${why}`, { field: "body.url" });
  if (url === null) throw refuse("not an address");
  if (url.protocol !== "https:" && url.protocol !== "http:") throw refuse("only https and http");
  if (url.username !== "" || url.password !== "") throw refuse("no user or password in it");
  if (url.hash !== "") throw refuse("no fragment in it");
  const host = hostOf(url);
  if (isIP(host) !== 0 && !mayCall(host, allowPrivate)) throw refuse(`${host} is not called`);
  if (/^(.+\.)?localhost\.?$/.test(host) && !allowPrivate) throw refuse(`${host} is not called`);
  return url;
}

/** Without the brackets of IPv6. */
const hostOf = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, "$1");

/** For the connection itself: what a name resolves to in this moment is what is checked and used. */
export function guardedLookup(allowPrivate: boolean): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      if (error !== null) return callback(error, "", 0);
      const bad = addresses.find(({ address }) => !mayCall(address, allowPrivate)); // (3)
      const first = addresses[0];
      if (bad !== undefined || first === undefined)
        return callback(new Error(`${hostname} leads to ${bad?.address ?? "nothing"}: not called`), "", 0);
      return options.all === true ? callback(null, addresses) : callback(null, first.address, first.family);
    });
  };
}
