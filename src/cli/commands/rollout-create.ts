/**
 * Creates a rollout.
 *
 * 1. What is signed comes from the operator's own file or words (src/cli/rollout/signed-request.ts).
 * 2. A broken creation rule is told before anything is signed or sent, unless the operator leaves it to the server.
 */
import { FairleadError } from "../../core/errors.ts";
import { RolloutView } from "../../core/protocol/operator-api.ts";
import { checkStrategyFields, type RolloutCreate } from "../../core/rollout/create.ts";
import { checkCreationRules } from "../../core/rollout/creation-rules.ts";
import type { Call, Result } from "../call.ts";
import { optionsOf } from "../options.ts";
import { chooseNodes } from "../rollout/choose-nodes.ts";
import { CreateOptions } from "../rollout/options.ts";
import { explainKeyless, releaseSigner } from "../rollout/release-signer.ts";
import { signalRollout } from "../rollout/signal.ts";
import { signedRequest } from "../rollout/signed-request.ts";
import { wishOf } from "../rollout/wish.ts";
import { withSession, type Session } from "../session.ts";

export const run = (call: Call): Promise<Result> =>
  withSession(call, async (session) => {
    const options = optionsOf(CreateOptions, call.options);
    const wish = await wishOf(options);
    if (options.localChecks) {
      checkStrategyFields(wish.choice); // (2)
      checkCreationRules(wish.proposal);
    }
    const signer = options.sign ? await releaseSigner(options.releaseKey, session) : null;
    const nodes = await chooseNodes(session.api, wish.profile, wish.choice, options.node);
    const request = signedRequest(call, session, wish, nodes, options, signer); // (1)
    const created = await send(session, request, options);
    const rollout = options.start ? await start(call, session, created) : created;
    const signed = request.intent !== undefined;
    return { data: rollout, text: summary(rollout, signed), notes: nextStep(rollout, options.start) };
  });

async function send(session: Session, body: RolloutCreate, { sign }: CreateOptions): Promise<RolloutView> {
  try {
    return await session.api.post("/api/v1/rollouts", body, RolloutView);
  } catch (error) {
    throw explainKeyless(error, session, sign && body.intent === undefined);
  }
}

/** The rollout stands even if its start is refused: the message says which one it is. */
async function start(call: Call, session: Session, created: RolloutView): Promise<RolloutView> {
  try {
    return (await signalRollout(call, session.api, created, { verb: "start" })).rollout;
  } catch (error) {
    if (!(error instanceof FairleadError)) throw error;
    const message = `rollout ${created.id} was created but not started: ${error.message}`;
    throw new FairleadError(error.code, message, { ...error.detail, rollout_id: created.id }, error);
  }
}

const summary = (rollout: RolloutView, signed: boolean): string =>
  `rollout ${rollout.id}: ${rollout.chain_profile_id} ${rollout.source_version} → ${rollout.target_version} ` +
  `on ${rollout.counters.total} nodes in ${rollout.batch_count} batches, ${signed ? "signed" : "unsigned"}, ${rollout.status}`;

/** A start that the server has not applied yet is not asked for a second time. */
const nextStep = ({ id, status }: RolloutView, isStarted: boolean): string =>
  `next: fairlead rollout ${status === "pending" && !isStarted ? "start" : "watch"} ${id.slice(0, 8)}`;
