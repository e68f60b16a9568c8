// A machine becomes a node: once, with the key that asked first, under the name the operator gave.

import { X509Certificate } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Database } from "../../../src/server/db/database.ts";
import { EnrollResponse } from "../../../src/core/protocol/agent-api.ts";
import { EnrollmentTokenRequest } from "../../../src/core/protocol/operator-api.ts";
import { getNode } from "../../../src/server/api/node-views.ts";
import { createEnrollmentToken } from "../../../src/server/identity/enrollment-tokens.ts";
import { revokeNode } from "../../../src/server/identity/revocation.ts";
import { startTestDatabases, type TestDatabases } from "../../support/database.ts";
import { ask, codeOf, newNodeKey, type NodeKey } from "../../support/server/agent-client.ts";
import {
  initializeSite,
  makeSite,
  startAgentSide,
  type AgentSide,
  type Site,
} from "../../support/server/site.ts";

let databases: TestDatabases;
let db: Database;
let site: Site;
let side: AgentSide;

beforeAll(async () => {
  databases = await startTestDatabases();
  ({ db } = await databases.fresh());
  site = await makeSite(db);
  side = await startAgentSide(db, site);
});
afterAll(async () => {
  await side.close();
  await site.remove();
  await databases.stop();
});

const tokenFor = (name: string, extra: object = {}) =>
  createEnrollmentToken(
    db,
    EnrollmentTokenRequest.parse({ name, chain_profile_ids: ["web"], node_type: "edge", ...extra }),
    "key:boss",
  );

const enrollWith = (secret: string, { csr }: NodeKey, name = "claimed") =>
  ask(`${side.enrollUrl}/enroll/v1/enroll`, { ca: site.ca.rootPem, json: { secret, csr, name } });

const revokedSubjects = async (): Promise<string[]> =>
  (await db<{ subject: string }[]>`select subject from authority_revocations`).map(({ subject }) => subject);

const who = (chain: string, key: string) =>
  ask(`${side.agentUrl}/agent/v1/who`, { ca: site.ca.rootPem, cert: chain, key });

test("nobody enrolls before the cluster has its trust bundle", async () => {
  const { secret } = await tokenFor("early");
  const answer = await enrollWith(secret, await newNodeKey());
  expect(codeOf(answer)).toBe("NOT_READY");
});

describe("with a trust bundle", () => {
  beforeAll(async () => initializeSite(db, site));

  test.each(["P-256", "Ed25519"] as const)(
    "a node with a %s key enrolls and is known by its certificate",
    async (kind) => {
      const { secret, node_id } = await tokenFor(`alpha-${kind}`);
      const key = await newNodeKey(kind);
      const answer = await enrollWith(secret, key);
      expect(answer.status).toBe(200);
      const enrolled = EnrollResponse.parse(answer.body);
      expect(enrolled.node_id).toBe(node_id);
      expect(enrolled.agent_url).toBe(side.agentUrl);
      expect(await who(enrolled.certificate_chain, key.pem)).toMatchObject({
        status: 200,
        body: { node_id },
      });
      const events = await db`select kind from events where node_id = ${node_id}`;
      expect(events.map(({ kind }) => kind as string)).toEqual(["enrollment_token.created", "node.enrolled"]);
    },
  );

  test("the names in a signing request are ignored: the certificate says what the server knows", async () => {
    const { secret, node_id } = await tokenFor("beta");
    const key = await newNodeKey("P-256", { subject: "CN=admin, O=another-cluster" });
    const { certificate_chain } = EnrollResponse.parse((await enrollWith(secret, key)).body);
    const certificate = new X509Certificate(certificate_chain);
    expect(certificate.subject).toBe(`CN=${node_id}`);
    expect(certificate.subjectAltName).toBe(`URI:fairlead://${site.clusterId}/node/${node_id}`);
    expect(certificate.keyUsage).toEqual(["1.3.6.1.5.5.7.3.2"]);
    const days = (Date.parse(certificate.validTo) - Date.now()) / 86_400_000;
    expect(Math.round(days)).toBe(30);
  });

  test("after a lost answer the same key gets the same certificate again", async () => {
    const { secret, node_id } = await tokenFor("gamma");
    const key = await newNodeKey();
    const first = await enrollWith(secret, key);
    const second = await enrollWith(secret, key);
    expect(second.body).toEqual(first.body);
    expect(await db`select serial from node_certificates where node_id = ${node_id}`).toHaveLength(1);
  });

  test("a second key with the same token is refused, and so is the same key with another token", async () => {
    const { secret } = await tokenFor("delta");
    const key = await newNodeKey();
    expect((await enrollWith(secret, key)).status).toBe(200);
    expect(codeOf(await enrollWith(secret, await newNodeKey()))).toBe("ENROLLMENT_REFUSED");
    expect(codeOf(await enrollWith("x".repeat(43), key))).toBe("ENROLLMENT_REFUSED");
  });

  test("failed enrollments from one address are bounded, and a machine with a good token still enrolls from it", async () => {
    const bounded = await startAgentSide(db, site, { failuresPerMinuteMax: 2 });
    const key = await newNodeKey();
    const attempt = (secret: string) =>
      ask(`${bounded.enrollUrl}/enroll/v1/enroll`, {
        ca: site.ca.rootPem,
        json: { secret, csr: key.csr, name: "n" },
      });
    try {
      const codes = [];
      for (let count = 0; count < 4; count += 1) codes.push(codeOf(await attempt("x".repeat(43))));
      expect(codes).toEqual([
        "ENROLLMENT_REFUSED",
        "ENROLLMENT_REFUSED",
        "TOO_MANY_REQUESTS",
        "TOO_MANY_REQUESTS",
      ]);
      expect((await attempt((await tokenFor("behind-the-same-nat")).secret)).status).toBe(200);
      expect(await db`select 1 from events where kind = 'enrollment.refused'`).toHaveLength(1);
    } finally {
      await bounded.close();
    }
  });

  test("of two keys that race for one token, one wins", async () => {
    const { secret } = await tokenFor("epsilon");
    const keys = await Promise.all([newNodeKey(), newNodeKey(), newNodeKey(), newNodeKey()]);
    const answers = await Promise.all(keys.map((key) => enrollWith(secret, key)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter((answer) => codeOf(answer) === "ENROLLMENT_REFUSED")).toHaveLength(3);
  });

  test("an expired token is refused", async () => {
    const { secret, node_id } = await tokenFor("zeta");
    await db`update enrollment_tokens set expires_at = now() where node_id = ${node_id}`;
    expect(codeOf(await enrollWith(secret, await newNodeKey()))).toBe("ENROLLMENT_REFUSED");
  });

  test("a request for a key that the asker does not hold is refused and leaves the token unused", async () => {
    const { secret } = await tokenFor("eta");
    const other = await newNodeKey();
    const stolen = await newNodeKey("P-256", { signWith: other.pem });
    expect(codeOf(await enrollWith(secret, stolen))).toBe("INVALID_INPUT");
    expect((await enrollWith(secret, await newNodeKey())).status).toBe(200);
  });

  test("a P-384 key, bytes that are no request and an endless one are refused", async () => {
    const { secret } = await tokenFor("theta");
    expect(codeOf(await enrollWith(secret, await newNodeKey("P-384")))).toBe("INVALID_INPUT");
    expect(codeOf(await enrollWith(secret, { csr: "hello", pem: "" }))).toBe("INVALID_INPUT");
    expect(codeOf(await enrollWith(secret, { csr: "A".repeat(9_000), pem: "" }))).toBe("INVALID_INPUT");
    expect(codeOf(await enrollWith(secret, { csr: "A".repeat(70_000), pem: "" }))).toBe("PAYLOAD_TOO_LARGE");
  });

  test("the secret is in no row", async () => {
    const { secret } = await tokenFor("iota");
    const rows = await db`select * from enrollment_tokens`;
    expect(JSON.stringify(rows)).not.toContain(secret);
  });

  test("the name of an enrolled node is refused to a second one", async () => {
    const { secret } = await tokenFor("kappa");
    expect((await enrollWith(secret, await newNodeKey())).status).toBe(200);
    await expect(tokenFor("kappa")).rejects.toMatchObject({ code: "ILLEGAL_TRANSITION" });
  });

  test("SNAP-20: a token under the name of a revoked node enrolls a new node, and the old certificate stays refused", async () => {
    const first = await tokenFor("kappa-2");
    const oldKey = await newNodeKey();
    const { certificate_chain } = EnrollResponse.parse((await enrollWith(first.secret, oldKey)).body);
    await revokeNode(db, first.node_id, "test", null);
    const second = await tokenFor("kappa-2");
    expect(second.node_id).not.toBe(first.node_id);
    const newKey = await newNodeKey();
    const again = EnrollResponse.parse((await enrollWith(second.secret, newKey)).body);
    expect(again.node_id).toBe(second.node_id);
    expect(await who(again.certificate_chain, newKey.pem)).toMatchObject({
      status: 200,
      body: { node_id: second.node_id },
    });
    expect(codeOf(await who(certificate_chain, oldKey.pem))).toBe("NODE_REVOKED");
    expect(codeOf(await enrollWith(first.secret, oldKey))).toBe("ENROLLMENT_REFUSED");
    expect(await revokedSubjects()).toContain(first.node_id);
    expect(await revokedSubjects()).not.toContain(second.node_id);
    expect(await getNode(db, first.node_id)).toMatchObject({ replaced_by: second.node_id, replaces: null });
    expect(await getNode(db, second.node_id)).toMatchObject({
      replaces: first.node_id,
      replaced_by: null,
      revoked_at: null,
      profiles: [{ chain_profile_id: "web", binary_version: null }],
    });
  });

  test("SNAP-20: a name that was revoked twice is a line of three nodes, whatever the clock said", async () => {
    const ids = [];
    for (let turn = 0; turn < 3; turn++) {
      const { node_id } = await tokenFor("line");
      if (turn < 2) await revokeNode(db, node_id, "test", null);
      // A clock that was set back must not make an older node look like the newest.
      await db`update nodes set revoked_at = revoked_at - ${turn} * interval '1 hour' where id = ${node_id}`;
      ids.push(node_id);
    }
    const rows = await db`select id, replaces from nodes where name = 'line'`;
    expect(new Map(rows.map((row) => [row["id"], row["replaces"]]))).toEqual(
      new Map([
        [ids[0], null],
        [ids[1], ids[0]],
        [ids[2], ids[1]],
      ]),
    );
  });

  test("SNAP-20: the database refuses two nodes of one name that are not revoked", async () => {
    await tokenFor("twice");
    const second = db`
      insert into nodes (id, name, node_type, roles) values (gen_random_uuid(), 'twice', 'edge', '{}')`;
    await expect(second).rejects.toMatchObject({ constraint_name: "one_present_node_per_name" });
  });

  test("an enrollment that meets a revocation of its node waits for it without a deadlock, and is refused", async () => {
    const { secret, node_id } = await tokenFor("met");
    let enrolling: ReturnType<typeof enrollWith> | undefined;
    await db.begin(async (tx) => {
      await tx`select 1 from nodes where id = ${node_id} for update`;
      enrolling = enrollWith(secret, await newNodeKey());
      await expect
        .poll(
          () =>
            db`select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
        )
        .toHaveLength(1);
      await tx`update nodes set revoked_at = now() where id = ${node_id}`;
      await tx`delete from enrollment_tokens where node_id = ${node_id}`;
    });
    expect(codeOf((await enrolling)!)).toBe("ENROLLMENT_REFUSED");
  });

  test("a used token gives a certificate to the key that used it, and not to a later key of the same node", async () => {
    const { secret } = await tokenFor("renewed");
    const first = await newNodeKey();
    const { certificate_chain } = EnrollResponse.parse((await enrollWith(secret, first)).body);
    const later = await newNodeKey();
    const renewed = await ask(`${side.agentUrl}/agent/v1/renew`, {
      ca: site.ca.rootPem,
      cert: certificate_chain,
      key: first.pem,
      json: { csr: later.csr },
    });
    expect(renewed.status).toBe(200);
    expect(codeOf(await enrollWith(secret, later))).toBe("ENROLLMENT_REFUSED");
    expect((await enrollWith(secret, first)).status).toBe(200);
  });

  test("a new token takes the place of one that was not used", async () => {
    const lost = await tokenFor("lambda");
    const fresh = await tokenFor("lambda");
    expect(fresh.node_id).toBe(lost.node_id);
    expect(codeOf(await enrollWith(lost.secret, await newNodeKey()))).toBe("ENROLLMENT_REFUSED");
    expect((await enrollWith(fresh.secret, await newNodeKey())).status).toBe(200);
  });

  test("a revoked node's unused token is worth nothing", async () => {
    const { secret, node_id } = await tokenFor("mu");
    await revokeNode(db, node_id, "test", "changed our mind");
    expect(codeOf(await enrollWith(secret, await newNodeKey()))).toBe("ENROLLMENT_REFUSED");
  });
});
