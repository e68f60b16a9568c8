/** What is not named stays as it is: the API takes the whole, so the rest is read first. */
import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import { Membership } from "../../core/model/resources.ts";
import { MembershipView } from "../../core/protocol/model-api.ts";
import { list } from "../../core/model/words.ts";
import type { Call, Result } from "../call.ts";
import { Words, optionsOf } from "../options.ts";
import { fields } from "../output.ts";
import { resolveNode } from "../resolve.ts";
import { withSession } from "../session.ts";

const Options = z.object({
  roles: Words.optional(),
  organizations: Words.optional(),
  peerAddress: z.string().optional(),
});

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const { roles, organizations, peerAddress } = optionsOf(Options, call.options);
    const { id } = await resolveNode(api, call.args[0]!);
    const path = `/api/v1/nodes/${id}/membership`;
    const before = await api.get(path, MembershipView);
    const wanted = Membership.safeParse({
      roles: roles ?? before.roles,
      organizations: organizations ?? before.organizations,
      peer_address:
        peerAddress === undefined ? before.peer_address : peerAddress === "none" ? null : peerAddress,
    });
    if (!wanted.success) {
      const { path: at, message } = wanted.error.issues[0]!;
      throw new FairleadError("USAGE", `--${String(at[0]).replaceAll("_", "-")}: ${message}`);
    }
    const node = await api.put(path, wanted.data, MembershipView);
    const text = fields([
      ["node", `${node.node_name} (${node.node_id})`],
      ["roles", list(node.roles)],
      ["organizations", list(node.organizations)],
      ["peer address", node.peer_address ?? "none"],
    ]);
    return { data: node, text };
  });
