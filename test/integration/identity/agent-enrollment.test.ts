// The agent's side of enrollment: it knows whom it asks before it says anything secret.

import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { AgentConfig } from "../../../src/agent/config.ts";
import { identify } from "../../../src/agent/identity/identify.ts";
import { openLink } from "../../../src/agent/link/link.ts";
import { EnrollmentTokenRequest } from "../../../src/core/protocol/operator-api.ts";
import { systemClock } from "../../../src/host/clock.ts";
import { silentLogger } from "../../../src/host/log.ts";
import type { Database } from "../../../src/server/db/database.ts";
import { createEnrollmentToken } from "../../../src/server/identity/enrollment-tokens.ts";
import { revokeNode } from "../../../src/server/identity/revocation.ts";
import { generateSigner } from "../../../src/trust/keys.ts";
import { formatToken, rootPinOf, type EnrollmentToken } from "../../../src/trust/pins.ts";
import { startTestDatabases, type TestDatabases } from "../../support/database.ts";
import {
  initializeSite,
  makeSite,
  startAgentSide,
  type AgentSide,
  type Site,
} from "../../support/server/site.ts";
import { signTrustBundle } from "../../support/server/trust-bundle.ts";

let databases: TestDatabases;
let db: Database;
let site: Site;
let side: AgentSide;
let folder: string;

beforeAll(async () => {
  databases = await startTestDatabases();
  ({ db } = await databases.fresh());
  site = await makeSite(db);
  await initializeSite(db, site);
  side = await startAgentSide(db, site);
});
afterAll(async () => {
  await side.close();
  await site.remove();
  await databases.stop();
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "fl-enroll-"));
  return () => rm(folder, { recursive: true, force: true });
});

async function tokenFor(name: string, spoiled: Partial<EnrollmentToken> = {}): Promise<string> {
  const request = EnrollmentTokenRequest.parse({ name, chain_profile_ids: ["web"], node_type: "edge" });
  const { secret } = await createEnrollmentToken(db, request, "key:boss");
  const rootPin = rootPinOf({ threshold: 1, keys: [site.root.record] });
  return formatToken({
    clusterId: site.clusterId,
    caPin: site.ca.pin,
    rootPin,
    minBundleVersion: 1,
    secret,
    ...spoiled,
  });
}

async function identifyWith(token: string) {
  const token_file = join(folder, "token");
  await writeFile(token_file, token);
  const data_dir = join(folder, "agent");
  const config = AgentConfig.parse({ data_dir, enroll_url: side.enrollUrl, token_file, programs: {} });
  const identified = await identify(config, systemClock, silentLogger, new AbortController().signal);
  expect(identified).not.toBeNull();
  return identified!;
}

const otherRoot = () => rootPinOf({ threshold: 1, keys: [generateSigner().signer.record] });

test("a machine with a good token becomes a node, once, and keeps no second copy of its key", async () => {
  const token = await tokenFor("good");
  const first = await identifyWith(token);
  expect(first.firstBundle).not.toBeNull();
  const again = await identifyWith(token);
  expect(again).toEqual({ identity: first.identity, firstBundle: null });
  expect(await readdir(join(folder, "agent", "identity"))).toEqual(["identity.json"]);
});

describe("an agent goes no further when what the token pins is not what it finds", () => {
  test.each([
    ["another CA", { caPin: "0".repeat(64) }, "PIN_MISMATCH"],
    ["another root", { rootPin: otherRoot() }, "PIN_MISMATCH"],
    ["another cluster", { clusterId: "00000000-0000-4000-8000-000000000000" as never }, "PIN_MISMATCH"],
    ["a trust bundle older than the token knows", { minBundleVersion: 2 }, "BUNDLE_REFUSED"],
  ] as const)("%s", async (what, spoiled, code) => {
    const token = await tokenFor(`spoiled-${what.replaceAll(" ", "-")}`, spoiled);
    await expect(identifyWith(token)).rejects.toMatchObject({ code });
    await expect(readFile(join(folder, "agent", "identity", "identity.json"))).rejects.toThrow("ENOENT");
  });

  test("with another CA the secret is not even sent: the token still works afterwards", async () => {
    const good = await tokenFor("unsent");
    const bad = good.replace(site.ca.pin, "0".repeat(64));
    await expect(identifyWith(bad)).rejects.toMatchObject({ code: "PIN_MISMATCH" });
    expect((await identifyWith(good)).firstBundle).not.toBeNull();
  });

  test("a trust bundle with the pinned root in it and no root's signature on it", async () => {
    const { signer: thief } = generateSigner();
    const { frame, content } = signTrustBundle(site, { signers: [thief], draft: { version: 7 } });
    await db`insert into trust_bundles (version, frame, content) values (7, ${frame}, ${db.json(content)})`;
    try {
      await expect(identifyWith(await tokenFor("forged"))).rejects.toMatchObject({
        code: "SNAPSHOT_KEY_UNTRUSTED",
      });
    } finally {
      await db`delete from trust_bundles where version = 7`;
    }
  });
});

test("a revoked machine comes back when its operator puts a new token in place", async () => {
  const { identity: before } = await identifyWith(await tokenFor("comes-back"));
  await revokeNode(db, before.node_id, "operator", "stolen laptop");
  const refused = openLink(before);
  await expect(refused.renew("anything")).rejects.toMatchObject({ code: "NODE_REVOKED" });
  refused.close();

  const { identity: after } = await identifyWith(await tokenFor("comes-back"));
  expect(after.private_key).not.toBe(before.private_key);
  const link = openLink(after);
  await expect(link.renew("not a request")).rejects.toMatchObject({ code: "INVALID_INPUT" });
  link.close();
});
