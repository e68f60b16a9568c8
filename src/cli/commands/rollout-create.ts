/**
 * Creates a rollout.
 *
 * 1. What is signed comes from the operator's own file or words; of the server's values only node ids are in it,
 *    and they are shown with their count before the key is used.
 * 2. A broken creation rule is told before anything is signed or sent, unless the operator leaves it to the server.
 */
import { FairleadError } from "../../core/errors.ts";
import { RolloutId } from "../../core/ids.ts";
import { RolloutView, type NodeView } from "../../core/protocol/operator-api.ts";
import type { RolloutCreate } from "../../core/rollout/create.ts";
import { checkCreationRules } from "../../core/rollout/creation-rules.ts";
import type { Signer } from "../../trust/keys.ts";
import type { Call, Result } from "../call.ts";
import { optionsOf } from "../options.ts";
import { pinsOf } from "../pins.ts";
import { chooseNodes } from "../rollout/choose-nodes.ts";
import { fingerprintOf, signedIntent } from "../rollout/intent.ts";
import { announcement, releaseSigner } from "../rollout/release-signer.ts";
import { CreateOptions } from "../rollout/options.ts";
import { wishOf, type Wish } from "../rollout/wish.ts";
import { withSession, type Session } from "../session.ts";

export const run = (call: Call): Promise<Result> =>
  withSession(call, async (session) => {
    const options = optionsOf(CreateOptions, call.options);
    const wish = await wishOf(options);
    if (options.localChecks) checkCreationRules(wish.proposal); // (2)
    const signer = options.sign ? await releaseSigner(options.releaseKey, session) : null;
    const nodes = await chooseNodes(session.api, wish.profile, options);
    const id = RolloutId.parse(call.io.randomUuid());
    const request = wish.request(
      id,
      nodes.map((node) => node.id),
    );
    const intent = signer === null ? null : intentFor(call, session, options, wish, request, nodes, signer);
    const body = intent === null ? request : { ...request, intent };
    const created = await send(session, body, options);
    const rollout = options.start ? await start(session, created, options.reason) : created;
    return { data: rollout, text: summary(rollout, intent !== null), notes: nextStep(rollout) };
  });

/** Where a key is all that is missing, say which one and where. */
async function send(
  { api, name }: Session,
  body: RolloutCreate,
  { sign }: CreateOptions,
): Promise<RolloutView> {
  try {
    return await api.post("/api/v1/rollouts", body, RolloutView);
  } catch (error) {
    const keyless =
      error instanceof FairleadError && error.code === "INTENT_REQUIRED" && sign && body.intent === undefined;
    if (!keyless) throw error;
    const message = `${error.message}, and context ${name} has no release key: give --release-key FILE`;
    throw new FairleadError(error.code, message, error.detail, error);
  }
}

function intentFor(
  { io, json }: Call,
  session: Session,
  options: CreateOptions,
  wish: Wish,
  request: RolloutCreate,
  nodes: readonly NodeView[],
  signer: Signer,
): string | null {
  const fingerprint = fingerprintOf(wish);
  if (fingerprint === null || nodes.length === 0) return null;
  if (!json)
    io.stderr.write(
      `${announcement(
        nodes.map((node) => node.name),
        signer,
      )}\n`,
    ); // (1)
  return signedIntent(
    {
      clusterId: pinsOf(session).cluster_id,
      rolloutId: request.id,
      nodeIds: nodes.map((node) => node.id),
      wish,
      fingerprint,
      now: io.now(),
      windowMs: options.window,
      maxAttempts: options.maxAttempts,
      rollback: options.rollback,
      canarySeed: io.randomBytes(32),
    },
    signer,
  );
}

/** The rollout stands even if its start is refused: the message says which one it is. */
async function start(
  session: Session,
  created: RolloutView,
  reason: string | undefined,
): Promise<RolloutView> {
  try {
    return await session.api.post(
      `/api/v1/rollouts/${created.id}/start`,
      reason === undefined ? {} : { reason },
      RolloutView,
    );
  } catch (error) {
    if (!(error instanceof FairleadError)) throw error;
    const message = `rollout ${created.id} was created but not started: ${error.message}`;
    throw new FairleadError(error.code, message, { ...error.detail, rollout_id: created.id }, error);
  }
}

const summary = (rollout: RolloutView, signed: boolean): string =>
  `rollout ${rollout.id}: ${rollout.chain_profile_id} ${rollout.source_version} → ${rollout.target_version} ` +
  `on ${rollout.counters.total} nodes in ${rollout.batch_count} batches, ${signed ? "signed" : "unsigned"}, ${rollout.status}`;

const nextStep = ({ id, status }: RolloutView): string =>
  `next: fairlead rollout ${status === "pending" ? "start" : "watch"} ${id.slice(0, 8)}`;
