// Where a webhook may lead, in every spelling of it.

import type { LookupAddress } from "node:dns";
import { expect, test } from "vitest";
import { checkWebhookUrl, guardedLookup, mayCall } from "../../../src/server/notify/addresses.ts";

const NEVER = [
  "169.254.169.254",
  "0.0.0.0",
  "224.0.0.1",
  "255.255.255.255",
  "100.100.100.200",
  "168.63.129.16",
  "192.0.0.192",
  "::",
  "fe80::1",
  "fec0::1",
  "ff02::1",
  "fd00:ec2::254",
  "fd20:ce::254",
  "fd00:c1::a9fe:a9fe",
  "::ffff:169.254.169.254",
  "::ffff:a9fe:a9fe",
  "::ffff:0:a9fe:a9fe",
  "64:ff9b::a9fe:a9fe",
  "2002:a9fe:a9fe::1",
  "::a9fe:a9fe",
  "not an address",
];
const INSIDE = [
  "127.0.0.1",
  "127.9.9.9",
  "10.1.2.3",
  "172.16.0.1",
  "172.31.255.255",
  "192.168.1.1",
  "100.64.0.1",
  "::1",
  "fd12::1",
  "::ffff:127.0.0.1",
  "::ffff:10.0.0.1",
];
const OUTSIDE = ["93.184.216.34", "192.0.1.1", "172.32.0.1", "100.128.0.1", "2606:2800:220:1::1"];

test.each(NEVER)("ROLL-19: %s is never called", (address) => {
  expect([mayCall(address, false), mayCall(address, true)]).toEqual([false, false]);
});
test.each(INSIDE)("ROLL-19: %s is called only when private addresses are allowed", (address) => {
  expect([mayCall(address, false), mayCall(address, true)]).toEqual([false, true]);
});
test.each(OUTSIDE)("ROLL-19: %s is called", (address) => {
  expect([mayCall(address, false), mayCall(address, true)]).toEqual([true, true]);
});

test.each([
  "http://2130706433/",
  "http://0x7f.1/",
  "http://0177.0.0.1/",
  "http://127.1/",
  "http://[::ffff:7f00:1]/",
  "http://localhost/",
  "http://hooks.localhost:8080/",
  "http://①②⑦.0.0.1/",
])("ROLL-19: %s is loopback in another spelling", (url) => {
  expect(() => checkWebhookUrl(url, false)).toThrow(/is not called/);
  expect(checkWebhookUrl(url, true).protocol).toBe("http:");
});

test("ROLL-19: what a name resolves to is refused at the connection", async () => {
  const look = (allowPrivate: boolean) =>
    new Promise<string | readonly LookupAddress[]>((done, fail) => {
      guardedLookup(allowPrivate)("localhost", { all: true }, (error, found) =>
        error === null ? done(found) : fail(error),
      );
    });
  await expect(look(false)).rejects.toThrow(/localhost leads to .*: not called/);
  expect((await look(true)).length).toBeGreaterThan(0);
});
