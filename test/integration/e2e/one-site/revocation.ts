/**
 * `fairlead node revoke`: when it returns, the node is out. Several replicas: test/integration/identity.
 * A new token on the same machine makes a new node of it (SNAP-20).
 */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { generateNodeKey, requestFor } from "../../../../src/agent/identity/csr.ts";
import { folderOf, readIdentity, type Identity } from "../../../../src/agent/identity/store.ts";
import { openLink } from "../../../../src/agent/link/link.ts";
import { FairleadError } from "../../../../src/core/errors.ts";
import type { NodeView } from "../../../../src/core/protocol/operator-api.ts";
import type { ProcessIdentity } from "../../../../src/host/process-identity.ts";
import { decodeFrame } from "../../../../src/trust/frame.ts";
import { eventually } from "../../../support/lab/eventually.ts";
import { NODE_TYPE } from "../../../support/lab/agent-of-node.ts";
import type { Lab } from "../../../support/lab/lab.ts";
import { addNode, type LabNode } from "../../../support/lab/node.ts";
import { killHard, processesAround } from "../../../support/lab/processes.ts";
import { completed, endingOf, startRollout } from "../../../support/lab/rollout.ts";

export function revocation(lab: () => Lab): void {
  describe("a node that an operator revokes", () => {
    let node: LabNode;
    let identity: Identity;
    let agent: ProcessIdentity;

    beforeAll(async () => {
      node = await addNode(lab(), { name: "revoked-1", profile: "revoked" });
      agent = await node.startAgent();
      await node.reported();
      identity = (await readIdentity(node.dataDir))!;
    });

    test("SNAP-10: when fairlead node revoke returns, its open poll is closed and its next request refused", async () => {
      const link = openLink(identity);
      const never = new AbortController().signal;
      const { applied } = await lab().operator.node(node.name);
      const request = {
        have: applied,
        command_mark: 0,
        intent_serials: {},
        head_issued_at: new Date().toISOString(),
        resync: [],
        wait_ms: 25_000,
      };
      let ended: unknown = "still open";
      const poll = link.poll(request, never).then(
        (answer) => (ended = answer),
        (error: unknown) => (ended = error),
      );
      const before = await node.running();

      const revoked = await lab().operator.fairlead(
        "node",
        "revoke",
        node.name,
        "--reason",
        "disk stolen",
        "--json",
      );
      expect([revoked.code, revoked.json<NodeView>().revoked_at]).toEqual([0, expect.any(String)]);
      await poll;
      expect(ended).toMatchObject({ code: "UNREACHABLE" });

      const next = await openLink(identity)
        .poll(request, never)
        .catch((error: unknown) => error);
      expect(next).toBeInstanceOf(FairleadError);
      expect(next).toMatchObject({ code: "NODE_REVOKED" });
      expect((await lab().operator.fairlead("node", "show", node.name)).out).toMatch(/state +revoked\n/);
      expect(await node.running()).toEqual(before);
      link.close();
    });

    async function show(name: string): Promise<string> {
      return (await lab().operator.fairlead("node", "show", name)).out;
    }

    test("SNAP-20: enrolled again with a new token, the machine is a new node that works at once", async () => {
      const oldToken = await readFile(node.tokenFile, "utf8");
      const token = await lab().operator.enrollmentToken(node.name, node.profile, NODE_TYPE);
      await writeFile(node.tokenFile, token, { mode: 0o600 });
      await killHard(agent);
      agent = await node.startAgent();
      await node.reported();
      const later = (await readIdentity(node.dataDir))!;
      expect(later.node_id).not.toBe(identity.node_id);
      expect(await lab().operator.node(node.name)).toMatchObject({
        id: later.node_id,
        replaces: identity.node_id,
        revoked_at: null,
        profiles: [{ chain_profile_id: node.profile, binary_version: "1.0.0" }],
      });

      const to = lab().origin.publish("2.0.0", { as: "revoked-v2" });
      const rollout = await startRollout(lab(), { profile: node.profile, from: "1.0.0", to });
      expect(await endingOf(lab(), rollout)).toEqual(completed([node]));
      expect((await node.running()).version).toBe("2.0.0");

      const link = openLink(later);
      expect(await link.renew(requestFor(generateNodeKey()))).toContain("BEGIN CERTIFICATE");
      link.close();
      const refused = openLink(identity);
      await expect(refused.renew(requestFor(generateNodeKey()))).rejects.toMatchObject({
        code: "NODE_REVOKED",
      });
      refused.close();

      await writeFile(node.tokenFile, oldToken, { mode: 0o600 });
      await killHard(agent);
      agent = await node.startAgent();
      await eventually("the old token is refused", async () =>
        (await readFile(join(lab().folder, `agent-${node.name}.log`), "utf8")).includes("ENROLLMENT_REFUSED"),
      );
      await writeFile(node.tokenFile, token, { mode: 0o600 });
    });

    test("SNAP-20: after a reboot the new node's program is started", async () => {
      for (const each of await processesAround([node.folder])) await killHard(each.identity);
      agent = await node.startAgent();
      expect((await node.running()).version).toBe("2.0.0");
    });

    test("SNAP-20: node show and snapshot explain tell the old node from the new one", async () => {
      const later = (await readIdentity(node.dataDir))!;
      expect(await show(node.name)).toMatch(/state +active\n/);
      expect(await show(node.name)).toContain(`${identity.node_id} (revoked)`);
      expect(await show(identity.node_id)).toMatch(/state +replaced\n/);
      expect(await show(identity.node_id)).toContain(later.node_id);
      const explain = async (id: string) => (await lab().operator.fairlead("snapshot", "explain", id)).out;
      expect(await explain(node.name)).not.toContain("node_identity");
      expect(await explain(identity.node_id)).toContain("every request of this node is refused");
    });

    test("SNAP-20: frames of the old identity lie apart and name a node that the machine no longer is", async () => {
      const later = (await readIdentity(node.dataDir))!;
      const frames = join(folderOf(node.dataDir, identity), "snapshots", "frames");
      const subjects = await Promise.all(
        (await readdir(frames)).map(async (name) => {
          const { header } = decodeFrame(await readFile(join(frames, name)));
          return (JSON.parse(Buffer.from(header).toString("utf8")) as { subject_node_id: string })
            .subject_node_id;
        }),
      );
      expect(subjects).toContain(identity.node_id);
      expect(subjects).not.toContain(later.node_id);
      expect(await readdir(join(node.dataDir, "nodes"))).toEqual(
        [identity.node_id, later.node_id].toSorted(),
      );
    });
  });
}
