/** A group live, until it ends: a picture on a terminal, a line per change elsewhere, a reading per line with `--json`. */
import type { GroupView } from "../../core/protocol/group-api.ts";
import type { Call, Result } from "../call.ts";
import { exitOfGroup, groupEnded } from "../group/ending.ts";
import { resolveGroup } from "../group/find.ts";
import { followGroup } from "../group/follow.ts";
import { groupStatusText } from "../group/text.ts";
import type { Redraw } from "../io.ts";
import { withSession, type Session } from "../session.ts";
import { groupLines } from "../watch/group-line.ts";
import { componentWatch } from "../watch/component.ts";
import { renderGroup, type SeenGroup } from "../watch/group-picture.ts";

/** Never aborted: a watch ends with its group, or with Ctrl-C. */
const { signal } = new AbortController();

export const run = (call: Call): Promise<Result> =>
  withSession(call, async (session) => {
    const first = await resolveGroup(session.api, call.args[0]!);
    const { redraw } = call.io;
    const drawn = redraw !== null && !call.json;
    const group = drawn
      ? await watchDrawn(call, session, first, await redraw())
      : await watchPlain(call, session, first);
    const why = group.why === null ? "" : `  ${group.why.code}: ${group.why.text}`;
    const text = drawn ? "" : `group ${group.id} ${groupStatusText(group)}${why}`;
    return { data: group, text, exit: exitOfGroup(group.status) };
  });

async function watchDrawn(
  { io, paint }: Call,
  { api }: Session,
  first: GroupView,
  screen: Redraw,
): Promise<GroupView> {
  const readComponent = componentWatch(api);
  let seen: SeenGroup = { group: first, at: null, lost: null };
  const draw = (): void => screen.show(renderGroup(seen, io.now(), paint, screen.columns()));
  try {
    for await (const group of followGroup(api, first, signal, (lost) => {
      seen = { ...seen, lost };
      draw();
    })) {
      seen = { ...seen, group, at: await readComponent(group, io.now()) };
      draw();
      if (groupEnded(group.status)) break;
    }
    return seen.group;
  } finally {
    screen.done();
  }
}

async function watchPlain({ io, json }: Call, { api }: Session, first: GroupView): Promise<GroupView> {
  let before: GroupView | null = null;
  for await (const group of followGroup(api, first, signal, (why) => {
    if (why !== null && !json) io.stderr.write(`no connection, trying again: ${why}\n`);
  })) {
    for (const line of groupLines(before, group))
      if (!json) io.stdout.write(`${new Date(io.now()).toISOString()} ${line}\n`);
    if (json && groupLines(before, group).length > 0 && !groupEnded(group.status))
      io.stdout.write(`${JSON.stringify(group)}\n`);
    before = group;
    if (groupEnded(group.status)) break;
  }
  return before ?? first;
}
