// How a server is told about maintenance, webhooks and NATS.

import { expect, test } from "vitest";
import { parseServerConfig, type ServerConfig } from "../../../src/server/config.ts";

const parse = (flags: string[], env: NodeJS.ProcessEnv = {}) =>
  parseServerConfig(["--embedded", "--data-dir", "/tmp/x", ...flags], env) as ServerConfig;

test("nothing said: half an hour of maintenance, no private webhooks, no NATS", () => {
  expect(parse([])).toMatchObject({ maintenanceLimitMs: 1_800_000, webhookAllowPrivate: false, nats: null });
});

test("what is said is taken", () => {
  const flags = ["--maintenance-limit", "5", "--webhook-allow-private", "--nats-credentials", "/c.creds"];
  const nats = "nats://a:4222,tls://b:4222";
  expect(parse([...flags, "--nats-url", nats, "--nats-ca", "/ca.pem"])).toMatchObject({
    maintenanceLimitMs: 300_000,
    webhookAllowPrivate: true,
    nats: { url: nats, credentialsFile: "/c.creds", caFile: "/ca.pem" },
  });
  expect(parse([], { FAIRLEAD_NATS_URL: "nats://c:1" }).nats?.url).toBe("nats://c:1");
});

test.each([
  ["--maintenance-limit", "soon"],
  ["--maintenance-limit", "0"],
  ["--maintenance-limit", "1000000"],
  ["--nats-url", "http://a:4222"],
  ["--nats-url", "nats://a:4222,"],
  ["--nats-credentials", "/c.creds"],
  ["--nats-ca", "/ca.pem"],
  ["--nats-ca", "/ca.pem", "--nats-url", "nats://a:4222"],
])("%s %s is refused", (...flags) => {
  expect(() => parse(flags)).toThrow(expect.objectContaining({ code: "INVALID_INPUT" }));
});
