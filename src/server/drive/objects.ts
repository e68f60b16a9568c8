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
import type { Advanced } from "../rollout/advance.ts";

export const ROLLOUT_OBJECT = "rollout";
export const PROBE_SERVICE = "fairlead_probe";

const AdvanceInput = z.object({ wake_at: z.number().optional() });

export interface Drive {
  advance(id: RolloutId): Promise<Advanced | null>;
  wakeAtOf(id: RolloutId): Promise<number | null>;
}

const RETRY = {
  initialInterval: 100,
  maxInterval: 2_000,
  exponentiationFactor: 2,
  maxAttempts: 10,
  onMaxAttempts: "kill",
} as const;

export function driveObjects(drive: Drive) {
  const rollout = restate.object({
    name: ROLLOUT_OBJECT,
    handlers: {
      advance: restate.handlers.object.exclusive(
        { idempotencyRetention: 0, journalRetention: 0, retryPolicy: RETRY },
        async (ctx: restate.ObjectContext, input: unknown): Promise<void> => {
          const id = RolloutId.parse(ctx.key);
          const { wake_at } = AdvanceInput.parse(input ?? {});
          const advanced = await ctx.run("step", async () => {
            if (wake_at !== undefined && (await drive.wakeAtOf(id)) !== wake_at) return null; // (3)
            return drive.advance(id);
          });
          if (advanced === null || advanced.wakeAt === null) return;
          ctx.genericSend({
            service: ROLLOUT_OBJECT,
            method: "advance",
            key: id,
            parameter: new TextEncoder().encode(JSON.stringify({ wake_at: advanced.wakeAt })),
            delay: Math.max(1, advanced.wakeAt - advanced.now),
            idempotencyKey: `wake:${id}:${advanced.wakeAt}`,
          });
        },
      ),
    },
  });

  const probe = restate.service({
    name: PROBE_SERVICE,
    handlers: { answer: async (_ctx: restate.Context, nonce: string): Promise<string> => nonce },
    options: { journalRetention: 0, ingressPrivate: false },
  });

  return [rollout, probe] as const;
}
