/** Addresses that only this machine, or only this link, can mean. `URL` has already undone the odd spellings. */
import { BlockList, isIPv4, isIPv6 } from "node:net";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

const inside = new BlockList();
inside.addSubnet("0.0.0.0", 8, "ipv4");
inside.addSubnet("127.0.0.0", 8, "ipv4");
inside.addSubnet("169.254.0.0", 16, "ipv4");
inside.addSubnet("224.0.0.0", 3, "ipv4");
inside.addAddress("::", "ipv6");
inside.addAddress("::1", "ipv6");
inside.addSubnet("fe80::", 10, "ipv6");
inside.addSubnet("ff00::", 8, "ipv6");
inside.addSubnet("64:ff9b::", 96, "ipv6");

/** A `hostname` as `URL` gives it: IPv6 in brackets. */
export function isLoopbackHost(hostname: string): boolean {
  return hostname === "localhost" || holds(loopback, withoutBrackets(hostname));
}

/** Loopback, link-local, unspecified, multicast: what an outside name must never resolve to. */
export const isInsideAddress = (address: string): boolean => holds(inside, address);

/** BlockList knows IPv4-mapped IPv6 addresses as the IPv4 ones they are. */
function holds(list: BlockList, address: string): boolean {
  if (isIPv4(address)) return list.check(address, "ipv4");
  return isIPv6(address) && list.check(address, "ipv6");
}

const withoutBrackets = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, "$1");
