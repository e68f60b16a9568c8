// Where a server listens, and what it tells agents about it.

import { expect, test } from "vitest";
import { parseServerConfig, type ServerConfig } from "../../../src/server/config.ts";

const parse = (flags: string[]) =>
  parseServerConfig(["--embedded", "--data-dir", "/tmp/x", ...flags], {}) as ServerConfig;

const EVERY_INTERFACE = ["0.0.0.0", "[::]", "0", "0x0", "[0:0:0:0:0:0:0:0]", "[::ffff:0:0]"];

test.each(
  EVERY_INTERFACE.flatMap((host) => [["--agent-listen", host] as const, ["--enroll-listen", host] as const]),
)("%s %s without a name is refused, and the message says what to set", (flag, host) => {
  expect(() => parse([flag, `${host}:7401`])).toThrow(expect.objectContaining({ code: "INVALID_INPUT" }));
  expect(() => parse([flag, `${host}:7401`])).toThrow("give --name HOST");
  expect(() => parse([flag, `${host}:7401`])).toThrow(flag);
});

test.each(EVERY_INTERFACE)("%s with a name is accepted", (host) => {
  const flags = ["--agent-listen", `${host}:7401`, "--enroll-listen", `${host}:7402`];
  expect(parse([...flags, "--name", "fairlead.example"]).names).toEqual(["fairlead.example"]);
});

test.each(["0.0.0.0", "::", "0"])("%s is refused as a name", (name) => {
  expect(() => parse(["--name", name])).toThrow(`--name ${name} is no address that agents can call`);
});

test.each(["127.0.0.1", "192.0.2.7", "[2001:db8::1]", "fairlead.example"])("%s needs no name", (host) => {
  expect(() => parse(["--agent-listen", `${host}:7401`])).not.toThrow();
});

test("metrics are served nowhere unless an address is given", () => {
  expect(parse([]).metricsListen).toBeNull();
  expect(parse(["--metrics-listen", "127.0.0.1:9400"]).metricsListen).toEqual({
    host: "127.0.0.1",
    port: 9400,
  });
  expect(() => parse(["--metrics-listen", "9400"])).toThrow("--metrics-listen: HOST:PORT");
});
