/**
 * Creates a group of rollouts from a file.
 *
 * 1. What each component installs comes from the operator's own files; its nodes are asked of the server and shown.
 * 2. Each component has an intent of its own, signed here.
 * 3. Broken rules are told before anything is signed or sent, unless the operator leaves them to the server.
 */
import { dirname } from "node:path";
import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import { checkGroupComponents, checkGroupShape } from "../../core/group/creation-rules.ts";
import { LIMITS } from "../../core/limits.ts";
import { GroupId, GroupView, type GroupCreate } from "../../core/protocol/group-api.ts";
import { checkStrategyFields } from "../../core/rollout/create.ts";
import { checkCreationRules } from "../../core/rollout/creation-rules.ts";
import type { Call, Result } from "../call.ts";
import { isTransient } from "../events/transient.ts";
import { signalGroup } from "../group/signal.ts";
import { optionsOf } from "../options.ts";
import { chooseNodes } from "../rollout/choose-nodes.ts";
import {
  readGroupFile,
  wishComponents,
  type GroupFile,
  type WishedComponent,
} from "../rollout/group-file.ts";
import { SigningOptions } from "../rollout/options.ts";
import { explainKeyless, releaseSigner } from "../rollout/release-signer.ts";
import { signedRequest } from "../rollout/signed-request.ts";
import { withSession, type Session } from "../session.ts";

const Options = SigningOptions.extend({
  file: z.string(),
  configDir: z.string().optional(),
  localChecks: z.boolean(),
  start: z.boolean().default(false),
  reason: z.string().max(LIMITS.reasonCharsMax).optional(),
});
type Options = z.infer<typeof Options>;

export const run = (call: Call): Promise<Result> =>
  withSession(call, async (session) => {
    const options = optionsOf(Options, call.options);
    const file = await readGroupFile(options.file);
    const components = await wishComponents(file, options.configDir ?? dirname(options.file)); // (1)
    if (options.localChecks) checkLocally(file, components); // (3)
    const request = await requestFor(call, session, options, file, components);
    const created = await send(session, request, options.sign);
    const group = options.start ? await start(call, session, created) : created;
    return { data: group, text: summary(group), notes: nextStep(group, options.start) };
  });

function checkLocally(file: GroupFile, components: readonly WishedComponent[]): void {
  const asked = { ...file, component_order: components.map(orderEntry) };
  checkGroupShape(asked);
  checkGroupComponents(
    asked,
    components.map(({ wish }) => ({
      binaryName: wish.binaryName,
      targetVersion: wish.proposal.targetVersion,
    })),
  );
  for (const { wish } of components) {
    checkStrategyFields(wish.choice);
    checkCreationRules(wish.proposal);
  }
}

const orderEntry = ({ wish }: WishedComponent, component_index: number) => ({
  component_index,
  binary_name: wish.binaryName,
});

async function requestFor(
  call: Call,
  session: Session,
  options: Options,
  { components: _written, ...group }: GroupFile,
  components: readonly WishedComponent[],
): Promise<GroupCreate> {
  const signer = options.sign ? await releaseSigner(options.releaseKey, session) : null;
  const order: GroupCreate["component_order"] = [];
  for (const [index, component] of components.entries()) {
    const { wish, nodes: names } = component;
    const nodes = await chooseNodes(session.api, wish.profile, wish.choice, names);
    if (!call.json) call.io.stderr.write(`component ${index}, ${wish.binaryName}: `);
    const rollout = signedRequest(call, session, wish, nodes, options, signer); // (2)
    if (!call.json && rollout.intent === undefined) call.io.stderr.write("not signed\n");
    order.push({ ...orderEntry(component, index), rollout });
  }
  return { ...group, id: GroupId.parse(call.io.randomUuid()), component_order: order };
}

/** The id makes it one wish: an answer that was lost is asked for again. */
async function send(session: Session, body: GroupCreate, sign: boolean): Promise<GroupView> {
  const post = (): Promise<GroupView> => session.api.post("/api/v1/rollout-groups", body, GroupView);
  try {
    return await post().catch((error: unknown) => {
      if (!isTransient(error)) throw error;
      return post();
    });
  } catch (error) {
    const unsigned = body.component_order.some(({ rollout }) => rollout.intent === undefined);
    throw explainKeyless(error, session, sign && unsigned);
  }
}

/** The group stands even if its start is refused: the message says which one it is. */
async function start(call: Call, session: Session, created: GroupView): Promise<GroupView> {
  try {
    return (await signalGroup(call, session.api, created, "start")).group;
  } catch (error) {
    if (!(error instanceof FairleadError)) throw error;
    const { id } = created;
    const message = `group ${id} was created but not started: ${error.message}`;
    throw new FairleadError(error.code, message, { ...error.detail, group_id: id }, error);
  }
}

const summary = (group: GroupView): string =>
  [
    `group ${group.id}: ${group.chain_profile_id}, ${group.failure_policy}, ${group.status}`,
    ...group.components.map(
      ({ component_index, binary_name, rollout }) =>
        `  ${component_index} ${binary_name} ${rollout.source_version} → ${rollout.target_version} ` +
        `on ${rollout.counters.total} nodes in ${rollout.batch_count} batches, rollout ${rollout.id}`,
    ),
  ].join("\n");

/** A start that the server has not applied yet is not asked for a second time. */
const nextStep = ({ id, status }: GroupView, isStarted: boolean): string =>
  `next: fairlead group ${status === "pending" && !isStarted ? "start" : "watch"} ${id.slice(0, 8)}`;
