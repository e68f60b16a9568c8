import type { Call, Result } from "../call.ts";
import { listRevocations } from "../model/revocations.ts";
import { resolveNode } from "../resolve.ts";
import { withSession } from "../session.ts";
import { explainText, explanations } from "../snapshot/explain.ts";
import { readActive, readNodeSnapshots } from "../snapshot/read.ts";

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const node = await readNodeSnapshots(api, (await resolveNode(api, call.args[0]!)).id);
    const active = await readActive(api, node);
    // The revoked identity of another node says nothing about what this one may do.
    const concerning = await listRevocations(api, { node_id: node.node_id });
    const revoked = concerning.filter(
      ({ kind, subject }) => kind !== "node_identity" || subject === node.node_id,
    );
    const { node_id, node_name, roles, organizations } = node;
    const data = { node_id, node_name, roles, organizations, snapshots: explanations(node, active), revoked };
    return { data, text: explainText(node, active, revoked, call.io.now()) };
  });
