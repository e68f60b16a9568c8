import { expect, test } from "vitest";
import { isInsideAddress, isLoopbackHost } from "../../../src/agent/programs/loopback.ts";

test.each(["localhost", "127.0.0.1", "127.255.255.254", "[::1]", "[::ffff:7f00:1]"])(
  "%s is a host of loopback",
  (host) => {
    expect(isLoopbackHost(host)).toBe(true);
  },
);

test.each([
  "localhost.example",
  "128.0.0.1",
  "126.255.255.255",
  "0.0.0.0",
  "[::2]",
  "[::]",
  "x[::1]",
  "[::1]x",
  "",
  "127.0.0.1.example",
])("%s is no host of loopback", (host) => {
  expect(isLoopbackHost(host)).toBe(false);
});

test.each([
  ["unspecified", "0.0.0.0", "::"],
  ["of this network", "0.255.255.255", "::ffff:0.0.0.1"],
  ["loopback", "127.0.0.1", "::1"],
  ["link-local", "169.254.0.1", "fe80::1"],
  ["the end of link-local", "169.254.255.255", "febf:ffff::1"],
  ["multicast", "224.0.0.1", "ff02::1"],
  ["the end of IPv4 and of multicast", "255.255.255.255", "ffff::1"],
  ["translated to IPv4", "127.255.255.255", "64:ff9b::7f00:1"],
])("an outside name must not resolve to an address that is %s", (_, v4, v6) => {
  expect([v4, v6].map(isInsideAddress)).toEqual([true, true]);
});

test.each([
  "1.0.0.1",
  "10.0.0.1",
  "169.253.255.255",
  "169.255.0.1",
  "223.255.255.255",
  "2001:db8::1",
  "fe7f::1",
  "fec0::1",
  "fe00::1",
  "64:ff9b:1::1",
  "64:ff9a::1",
  "::2",
  "not an address",
])("an outside name may resolve to %s", (address) => {
  expect(isInsideAddress(address)).toBe(false);
});
