/**
 * The objects that Restate drives. Each handler is one short step over rows; nothing waits inside it.
 *
 * 1. The step runs inside `ctx.run`: a retry after it replays its result instead of a journal that no longer fits.
 * 2. Retries end: a paused invocation would block its key for good, and the sweep starts a new one anyway.
 * 3. A wake-up names the time it was set for; when the row has moved on, the wake-up is an old one and does nothing.
 */
import * as restate from "@restatedev/restate-sdk";
import { z } from "zod";
import { RolloutId } from "../../core/ids.ts";
import { GroupId } from "../../core/protocol/group-api.ts";

export const ROLLOUT_OBJECT = "rollout";
export const GROUP_OBJECT = "rollout_group";
export const PROBE_SERVICE = "fairlead_probe";

const AdvanceInput = z.object({ wake_at: z.number().optional() });

/** What a step leaves behind: when to look again, by the clock that it read. */
export interface Stepped {
  readonly wakeAt: number | null;
  readonly now: number;
}

export interface Driven<Id> {
  advance(id: Id): Promise<Stepped | null>;
  wakeAtOf(id: Id): Promise<number | null>;
}

export interface Drive {
  readonly rollouts: Driven<RolloutId>;
  readonly groups: Driven<GroupId>;
}

const RETRY = {
  initialInterval: 100,
  maxInterval: 2_000,
  exponentiationFactor: 2,
  maxAttempts: 10,
  onMaxAttempts: "kill",
} as const;

export function driveObjects(drive: Drive) {
  const probe = restate.service({
    name: PROBE_SERVICE,
    handlers: { answer: async (_ctx: restate.Context, nonce: string): Promise<string> => nonce },
    options: { journalRetention: 0, ingressPrivate: false },
  });

  return [
    objectOf(ROLLOUT_OBJECT, RolloutId, drive.rollouts),
    objectOf(GROUP_OBJECT, GroupId, drive.groups),
    probe,
  ] as const;
}

function objectOf<Id extends string>(name: string, idSchema: z.ZodType<Id>, driven: Driven<Id>) {
  return restate.object({
    name,
    handlers: {
      advance: restate.handlers.object.exclusive(
        { idempotencyRetention: 0, journalRetention: 0, retryPolicy: RETRY },
        async (ctx: restate.ObjectContext, input: unknown): Promise<void> => {
          const id = idSchema.parse(ctx.key);
          const { wake_at } = AdvanceInput.parse(input ?? {});
          const stepped = await ctx.run("step", async () => {
            if (wake_at !== undefined && (await driven.wakeAtOf(id)) !== wake_at) return null; // (3)
            return driven.advance(id);
          });
          if (stepped === null || stepped.wakeAt === null) return;
          ctx.genericSend({
            service: name,
            method: "advance",
            key: id,
            parameter: new TextEncoder().encode(JSON.stringify({ wake_at: stepped.wakeAt })),
            delay: Math.max(1, stepped.wakeAt - stepped.now),
            idempotencyKey: `wake:${id}:${stepped.wakeAt}`,
          });
        },
      ),
    },
  });
}
