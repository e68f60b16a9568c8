/** retry, skip and give-up: about one node, or about every node that failed (retry) or is silent (give-up). */
import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import type { NodeUpgradeView, RolloutView } from "../../core/protocol/operator-api.ts";
import type { Call, Result } from "../call.ts";
import { optionsOf } from "../options.ts";
import { listUpgrades } from "../pages.ts";
import { resolveRollout } from "../resolve.ts";
import { signAgain } from "../rollout/sign-again.ts";
import { signalRollout } from "../rollout/signal.ts";
import { withSession, type Session } from "../session.ts";

const Options = z.object({ node: z.string().optional() });

export const skip = nodeSignal("skip", async () => null);
/** A retry is a launch: it may need a window that is open. */
export const retry = nodeSignal("retry", signAgain);

type Sign = (call: Call, session: Session, id: RolloutView["id"]) => Promise<string | null>;

function nodeSignal(signal: string, sign: Sign) {
  return {
    run: (call: Call): Promise<Result> =>
      withSession(call, async (session) => {
        const { node } = optionsOf(Options, call.options);
        const before = await resolveRollout(session.api, call.args[0]!);
        const { id } = before;
        const about = node === undefined ? null : memberOf(await listUpgrades(session.api, id), node);
        const intent = await sign(call, session, id);
        const named = about === null ? {} : { nodeId: about.node_id };
        const wish = { verb: signal, intent, ...named };
        const { rollout, effect } = await signalRollout(call, session.api, before, wish);
        const whom = about === null ? "every failed node" : about.node_name;
        const text = `${signal} of ${whom} in rollout ${id} ${effect}`;
        return { data: rollout, text };
      }),
  };
}

const GiveUpOptions = z.object({ allSilent: z.boolean().optional() });

export const giveUp = {
  run: (call: Call): Promise<Result> =>
    withSession(call, async (session) => {
      const [wanted, node] = [optionsOf(GiveUpOptions, call.options).allSilent === true, call.args[1]];
      if (wanted === (node !== undefined))
        throw new FairleadError("USAGE", "name one node, or give --all-silent");
      const before = await resolveRollout(session.api, call.args[0]!);
      const about = node === undefined ? null : memberOf(await listUpgrades(session.api, before.id), node);
      const named = about === null ? {} : { nodeId: about.node_id };
      const { rollout, effect } = await signalRollout(call, session.api, before, {
        verb: "give-up",
        ...named,
      });
      const whom = about === null ? "every silent node" : about.node_name;
      return { data: rollout, text: `give-up of ${whom} in rollout ${before.id} ${effect}` };
    }),
};

/** Among the rollout's own nodes: another node of that name is not meant. */
export function memberOf(nodes: readonly NodeUpgradeView[], text: string): NodeUpgradeView {
  const found = nodes.filter((node) => node.node_name === text || node.node_id === text);
  if (found.length === 1) return found[0]!;
  const byPrefix = text.length < 4 ? [] : nodes.filter((node) => node.node_id.startsWith(text));
  if (byPrefix.length === 1) return byPrefix[0]!;
  const what = found.length + byPrefix.length === 0 ? "no node" : "several nodes";
  throw new FairleadError("NOT_FOUND", `${what} of this rollout may be called ${JSON.stringify(text)}`);
}
