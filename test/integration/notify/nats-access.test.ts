// Who may tell a real NATS server something, and over what kind of connection.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { issueLeaf, issuerOf, makeAuthority, newP256Key } from "../../../src/server/identity/certificates.ts";
import { openNats, type NatsTarget } from "../../../src/server/notify/nats-connection.ts";
import { natsAccounts } from "../../support/programs/nats-accounts.ts";
import { natsServer } from "../../support/programs/nats-server.ts";

const HOUR_MS = 3_600_000;
const MESSAGE = { id: "1", subject: "events.test", body: {} };

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), "fl-nats-"))));
afterEach(async () => rm(folder, { recursive: true }));

const open = (target: Partial<NatsTarget> & Pick<NatsTarget, "url">) =>
  openNats({ credentialsFile: undefined, caFile: undefined, ...target });

async function file(name: string, text: string, mode = 0o600): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text, { mode });
  return path;
}

async function configured(configuration: string): Promise<string> {
  const server = await natsServer(["-c", await file("nats.conf", configuration)]);
  await server.start();
  onTestFinished(() => server.stop());
  return server.url;
}

/** Its address with `tls://`, and the file of the authority that its certificate is from. */
async function encrypted(name: {
  type: "dns" | "ip";
  value: string;
}): Promise<{ url: string; caFile: string }> {
  const now = Date.now();
  const authority = await authorityPem("nats");
  const { pem, spki } = newP256Key();
  const leaf = await issueLeaf(issuerOf(authority), {
    commonName: "nats",
    names: [name],
    usage: "server",
    spki,
    now,
    lifetimeMs: HOUR_MS,
  });
  const [cert, key] = [await file("cert.pem", leaf.toString("pem")), await file("key.pem", pem)];
  const url = await configured(`tls { cert_file: "${cert}", key_file: "${key}" }`);
  return { url: url.replace("nats:", "tls:"), caFile: await file("ca.pem", authority.certificate, 0o644) };
}

const authorityPem = (commonName: string) =>
  makeAuthority({ commonName, issuer: null, usages: [], now: Date.now(), lifetimeMs: HOUR_MS });

async function expectTold(target: Partial<NatsTarget> & Pick<NatsTarget, "url">): Promise<void> {
  const link = await open(target);
  await link.publish([MESSAGE]);
  expect(link.isLost()).toBe(false);
  await link.close();
}

test("ROLL-19: what NATS does not permit counts as not told", async () => {
  const url = await configured(
    `authorization { users = [ { user: ship, password: pass, permissions: { publish: { deny: "events.>" } } } ] }`,
  );
  const link = await open({ url: url.replace("//", "//ship:pass@") });
  await link.publish([{ ...MESSAGE, subject: "elsewhere" }]);
  await expect(link.publish([MESSAGE])).rejects.toThrow(/ermission/);
  await link.close();
});

test("ROLL-19: a user and password in the address are used", async () => {
  const url = await configured(`authorization { user: ship, password: "p@ss" }`);
  await expect(open({ url })).rejects.toThrow(/uthoriz/i);
  await expectTold({ url: url.replace("//", "//ship:p%40ss@") });
});

test("ROLL-19: a credentials file is used, and refused when others can read it or another operator issued it", async () => {
  const { configuration, credentials } = natsAccounts();
  const url = await configured(configuration);
  await expect(open({ url })).rejects.toThrow(/uthoriz/i);
  await expectTold({ url, credentialsFile: await file("ship.creds", credentials) });
  const foreign = await file("foreign.creds", natsAccounts().credentials);
  await expect(open({ url, credentialsFile: foreign })).rejects.toThrow(/uthoriz/i);
  const shared = await file("shared.creds", credentials, 0o644);
  await expect(open({ url, credentialsFile: shared })).rejects.toThrow(/readable by others/);
});

test("ROLL-19: tls:// trusts the named authority, and not one that the system does not know", async () => {
  const { url, caFile } = await encrypted({ type: "ip", value: "127.0.0.1" });
  await expectTold({ url, caFile });
  await expect(open({ url })).rejects.toThrow(/certificate/);
  const other = await file("other.pem", (await authorityPem("other")).certificate);
  await expect(open({ url, caFile: other })).rejects.toThrow(/certificate/);
});

test("ROLL-19: tls:// asks the certificate for the name in the address", async () => {
  const { url, caFile } = await encrypted({ type: "dns", value: "localhost" });
  await expectTold({ url: url.replace("127.0.0.1", "localhost"), caFile });
});

test.each([
  { type: "dns", value: "localhost" },
  { type: "dns", value: "elsewhere.example" },
  { type: "ip", value: "127.0.0.2" },
] as const)("ROLL-19: tls:// to 127.0.0.1 refuses a certificate for $value", async (name) => {
  const { url, caFile } = await encrypted(name);
  await expect(open({ url, caFile })).rejects.toThrow(/altnames|IP: 127\.0\.0\.1 is not in/);
});

test("ROLL-19: tls:// refuses a server without TLS before it hears a password", async () => {
  const url = await configured(`authorization { user: ship, password: pass }`);
  await expect(open({ url: url.replace("nats://", "tls://ship:pass@") })).rejects.toThrow(
    /does not support 'tls'/,
  );
});
