/** `fairlead node revoke`: when it returns, the node is out. Several replicas: test/integration/identity. */
import { beforeAll, describe, expect, test } from "vitest";
import { readIdentity, type Identity } from "../../../../src/agent/identity/store.ts";
import { openLink } from "../../../../src/agent/link/link.ts";
import { FairleadError } from "../../../../src/core/errors.ts";
import type { NodeView } from "../../../../src/core/protocol/operator-api.ts";
import type { Lab } from "../../../support/lab/lab.ts";
import { addRunningNodes, type LabNode } from "../../../support/lab/node.ts";

export function revocation(lab: () => Lab): void {
  describe("a node that an operator revokes", () => {
    let node: LabNode;
    let identity: Identity;

    beforeAll(async () => {
      [node] = (await addRunningNodes(lab(), [{ name: "revoked-1", profile: "revoked" }])) as [LabNode];
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
  });
}
