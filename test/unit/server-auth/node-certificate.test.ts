// A node's certificate, written out byte by byte, is what the library and OpenSSL read and what the library would make.
import "reflect-metadata";
import { createPublicKey, X509Certificate as OpensslCertificate } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { X509Certificate } from "@peculiar/x509";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ClusterId, NodeId } from "../../../src/core/ids.ts";
import { LIMITS } from "../../../src/core/limits.ts";
import { systemClock } from "../../../src/host/clock.ts";
import { issueLeaf } from "../../../src/server/identity/certificates.ts";
import { issueNodeCertificate, nodeUri } from "../../../src/server/identity/node-certificate.ts";
import { readSigningRequest, type RequestedKey } from "../../../src/server/identity/signing-request.ts";
import { loadOrCreateSiteCa, type SiteCa } from "../../../src/server/identity/site-ca.ts";
import { newNodeKey } from "../../support/server/agent-client.ts";

const CLUSTER = ClusterId.parse("00000000-0000-4000-8000-000000000001");
const NODE = NodeId.parse("00000000-0000-4000-8000-000000000002");
const NOW = Date.UTC(2026, 5, 1, 12, 30, 15, 678);

let folder: string;
let ca: SiteCa;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fl-node-certificate-"));
  ca = await loadOrCreateSiteCa(folder, systemClock);
});
afterAll(async () => rm(folder, { recursive: true, force: true }));

const leafOf = (chainPem: string): string => chainPem.split(/(?<=-----END CERTIFICATE-----)/)[0]!;
const extensionsOf = ({ extensions }: X509Certificate): string[] =>
  extensions.map(({ rawData }) => Buffer.from(rawData).toString("hex")).toSorted();

/** As the library makes it, with the same validity. */
const byLibrary = (key: RequestedKey, now: number) =>
  issueLeaf(ca.agent, {
    commonName: NODE,
    names: [{ type: "url", value: nodeUri(CLUSTER, NODE) }],
    usage: "client",
    spki: key.spki,
    now: Math.floor(now / 1000) * 1000,
    lifetimeMs: LIMITS.nodeCertificateLifetimeMs,
  });

test.each([
  ["P-256", NOW],
  ["Ed25519", NOW],
  ["P-256", Date.UTC(2050, 0, 1)],
] as const)("a certificate for a %s key at %i says what the library's says", async (kind, now) => {
  const key = await readSigningRequest((await newNodeKey(kind)).csr);
  const { chainPem, serial, notAfter } = issueNodeCertificate(ca, CLUSTER, NODE, key, now);
  const made = new X509Certificate(leafOf(chainPem));
  const expected = await byLibrary(key, now);
  expect(made.serialNumber).toBe(serial);
  expect(made.notAfter).toEqual(notAfter);
  const said = (certificate: X509Certificate) => ({
    subject: certificate.subject,
    issuer: certificate.issuer,
    notBefore: certificate.notBefore,
    notAfter: certificate.notAfter,
    publicKey: Buffer.from(certificate.publicKey.rawData).toString("hex"),
    extensions: extensionsOf(certificate),
  });
  expect(said(made)).toEqual(said(expected));
});

test("OpenSSL reads it, and verifies it with the agents' intermediate and with no other key", async () => {
  const key = await readSigningRequest((await newNodeKey()).csr);
  const { chainPem } = issueNodeCertificate(ca, CLUSTER, NODE, key, NOW);
  const made = new OpensslCertificate(leafOf(chainPem));
  const issuer = new OpensslCertificate(ca.agent.certificatePem);
  expect(made.checkIssued(issuer)).toBe(true);
  expect(made.verify(issuer.publicKey)).toBe(true);
  expect(made.verify(new OpensslCertificate(ca.server.certificatePem).publicKey)).toBe(false);
  expect(made.ca).toBe(false);
  expect(made.subjectAltName).toBe(`URI:${nodeUri(CLUSTER, NODE)}`);
  expect(made.publicKey.equals(createPublicKey({ key: key.spki, type: "spki", format: "der" }))).toBe(true);
});

test("serial numbers are positive and differ", async () => {
  const key = await readSigningRequest((await newNodeKey()).csr);
  const serials = Array.from({ length: 200 }, () => issueNodeCertificate(ca, CLUSTER, NODE, key, NOW));
  expect(new Set(serials.map(({ serial }) => serial)).size).toBe(200);
  for (const { serial, chainPem } of serials)
    expect(new OpensslCertificate(leafOf(chainPem)).serialNumber).toBe(serial.toUpperCase());
});
