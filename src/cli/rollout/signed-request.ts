/**
 * One rollout as it is sent: with its nodes, with what their config files came to here, and signed where there is a key.
 * Of the server's values only the nodes are in it, and they are shown with their count before the key is used.
 */
import { RolloutId } from "../../core/ids.ts";
import type { NodeView } from "../../core/protocol/operator-api.ts";
import type { RolloutCreate } from "../../core/rollout/create.ts";
import type { Signer } from "../../trust/keys.ts";
import { nodesTree } from "../../trust/merkle.ts";
import type { Call } from "../call.ts";
import { pinsOf } from "../pins.ts";
import type { Session } from "../session.ts";
import { signedIntent } from "./intent.ts";
import { leavesFor } from "./leaves.ts";
import type { SigningOptions } from "./options.ts";
import { announcement } from "./release-signer.ts";
import { fingerprintOf, type Wish } from "./wish.ts";

export function signedRequest(
  { io, json }: Call,
  session: Session,
  wish: Wish,
  nodes: readonly NodeView[],
  signing: SigningOptions,
  signer: Signer | null,
): RolloutCreate {
  const id = RolloutId.parse(io.randomUuid());
  const request = wish.request(
    id,
    nodes.map((node) => node.id),
  );
  const leaves = leavesFor(wish.plan(), nodes);
  if (leaves.length === 0) return request;
  const rendered = { ...request, nodes_root: nodesTree(leaves).root };
  const fingerprint = fingerprintOf(wish);
  if (fingerprint === null || signer === null) return rendered;
  const names = nodes.map((node) => node.name);
  if (!json) io.stderr.write(`${announcement(names, signer)}\n`);
  const intent = signedIntent(
    {
      clusterId: pinsOf(session).cluster_id,
      rolloutId: id,
      wish,
      leaves,
      fingerprint,
      now: io.now(),
      windowMs: signing.window,
      maxAttempts: signing.maxAttempts,
      rollback: signing.rollback,
      canarySeed: io.randomBytes(32),
    },
    signer,
  );
  return { ...rendered, intent };
}
