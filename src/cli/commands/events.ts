/** Every event of the site as it happens, one line each, until Ctrl-C or until so many have come. */
import { z } from "zod";
import type { Call, Result } from "../call.ts";
import { followEvents } from "../events/follow.ts";
import { count, optionsOf } from "../options.ts";
import { listNodes } from "../pages.ts";
import { withSession } from "../session.ts";
import { eventLine } from "../watch/line.ts";

const Options = z.object({ count: count(1, 1_000_000).optional(), after: count(0, 1e15).optional() });

export const run = (call: Call): Promise<Result> =>
  withSession(call, async ({ api }) => {
    const { count: most, after } = optionsOf(Options, call.options);
    const { io, json } = call;
    const nodes = json ? [] : await listNodes(api);
    const names = new Map<string, string>(nodes.map((node) => [node.id, node.name]));
    const nameOf = (id: string): string => names.get(id) ?? id.slice(0, 8);
    const { signal } = new AbortController();
    const onLost = (why: string | null): void => {
      if (why !== null && !json) io.stderr.write(`no connection, trying again: ${why}\n`);
    };
    let seen = 0;
    for await (const event of followEvents(api, "/api/v1/events", after ?? null, { signal, onLost })) {
      const about = event.rollout_id === null ? "" : ` [${event.rollout_id.slice(0, 8)}]`;
      const line = json ? JSON.stringify(event) : `${eventLine(event, { batchCount: null, nameOf })}${about}`;
      io.stdout.write(`${line}\n`);
      seen += 1;
      if (seen === most) break;
    }
    return { data: { events: seen }, text: "" };
  });
