/**
 * A rollout live, until it ends: a picture redrawn in place on a terminal, a line per event elsewhere,
 * an event per line with `--json`, and the rollout itself at the end.
 */
import type { RolloutView } from "../../core/protocol/operator-api.ts";
import type { Call, Result } from "../call.ts";
import type { Redraw } from "../io.ts";
import { knownEvent } from "../events/data.ts";
import { followRollout } from "../events/follow.ts";
import { patiently } from "../events/transient.ts";
import { listUpgrades } from "../pages.ts";
import { readRollout, resolveRollout } from "../resolve.ts";
import { exitOfStatus, hasEnded } from "../rollout/ending.ts";
import { statusText } from "../rollout-text.ts";
import { withSession, type Session } from "../session.ts";
import { eventLine } from "../watch/line.ts";
import { liveView } from "../watch/live.ts";
import { watchModel, type WatchModel } from "../watch/model.ts";

export const run = (call: Call): Promise<Result> =>
  withSession(call, async (session) => {
    const first = await resolveRollout(session.api, call.args[0]!);
    const model = watchModel(first, await listUpgrades(session.api, first.id));
    const { redraw } = call.io;
    const drawn = redraw !== null && !call.json;
    const rollout = drawn
      ? await watchDrawn(call, session, model, redraw)
      : await watchPlain(call, session, model);
    const why = rollout.why === null ? "" : `  ${rollout.why.code}: ${rollout.why.text}`;
    const text = drawn ? "" : `rollout ${rollout.id} ${statusText(rollout)}${why}`;
    return { data: rollout, text, exit: exitOfStatus(rollout.status) };
  });

const reread = ({ api }: Session, model: WatchModel): Promise<RolloutView> =>
  readRollout(api, model.view().rollout.id);

/** Never aborted: a watch ends with its rollout, or with Ctrl-C. */
const { signal } = new AbortController();

async function watchDrawn(
  call: Call,
  session: Session,
  model: WatchModel,
  redraw: () => Promise<Redraw>,
): Promise<RolloutView> {
  const live = liveView(call, await redraw(), model, () => reread(session, model));
  try {
    if (!hasEnded(model.view().rollout.status)) await consume(session, model, live.changed, () => undefined);
    const rollout = await patiently(signal, () => reread(session, model));
    model.refresh(rollout);
    model.replaceNodes(await patiently(signal, () => listUpgrades(session.api, rollout.id)));
    return rollout;
  } finally {
    live.end();
  }
}

async function watchPlain({ io, json }: Call, session: Session, model: WatchModel): Promise<RolloutView> {
  const facts = { batchCount: model.view().rollout.batch_count, nameOf: model.nameOf };
  let wasLost = false;
  await consume(
    session,
    model,
    (event) => io.stdout.write(`${json ? JSON.stringify(event) : eventLine(event, facts)}\n`),
    (why) => {
      if (!json && why !== null && !wasLost) io.stderr.write(`no connection, trying again: ${why}\n`);
      if (!json && why === null && wasLost) io.stderr.write("connected again\n");
      wasLost = why !== null;
    },
  );
  return patiently(signal, () => reread(session, model));
}

/** Until the event that ends the rollout. One found in the past may be over: a completed rollout can be rolled back. */
async function consume(
  session: Session,
  model: WatchModel,
  onEvent: (event: Parameters<WatchModel["apply"]>[0]) => void,
  onLost: (why: string | null) => void,
): Promise<void> {
  const lost = (why: string | null): void => {
    model.connection(why);
    onLost(why);
  };
  for await (const event of followRollout(session.api, model.view().rollout.id, { signal, onLost: lost })) {
    model.apply(event);
    onEvent(event);
    const known = knownEvent(event);
    if (known.kind !== "rollout.status" || !hasEnded(known.to)) continue;
    const now = await patiently(signal, () => reread(session, model));
    if (hasEnded(now.status) && now.status === known.to) return;
  }
}
