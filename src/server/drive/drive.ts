/** The drive of this replica: handlers that Restate calls, and the sweep for what was lost. It has a thread of its own. */
import type { Logger } from "../../host/log.ts";
import type { Database } from "../db/database.ts";
import { advanceGroup } from "../group/advance.ts";
import { advanceRollout, type AdvanceDeps } from "../rollout/advance.ts";
import type { Authority } from "../snapshots/authority.ts";
import { connectEngine, type EngineAddress } from "./engine.ts";
import { serveHandlers, type HandlerOptions } from "./endpoint.ts";
import { createGroupNudge, createNudge } from "./nudge.ts";
import { createRegistration } from "./registration.ts";
import { startSweep } from "./sweep.ts";
import { FAIRLEAD_VERSION } from "../../core/version.ts";

export interface DriveDeps {
  readonly db: Database;
  readonly address: EngineAddress;
  readonly authority: Authority;
  readonly handlers: Omit<HandlerOptions, "identityKey">;
  readonly onCommitted: AdvanceDeps["onCommitted"];
  readonly handOver: NonNullable<AdvanceDeps["handOver"]>;
  readonly log: Logger;
}

export interface RunningDrive {
  /** True when a real invocation went through the engine and came back. */
  answers(): Promise<boolean>;
  stop(): Promise<void>;
}

export async function startDrive(deps: DriveDeps): Promise<RunningDrive> {
  const { db, address, authority, handlers, onCommitted, handOver, log } = deps;
  const engine = connectEngine(address);
  const nudge = createNudge({ db, engine, log });
  const nudgeGroup = createGroupNudge({ db, engine, log });
  // A step writes times and signs. While the clocks disagree it does neither; the sweep calls it again.
  const mayStep = (): boolean => authority.clock?.isOpen() ?? true;
  const endpoint = await serveHandlers(
    {
      rollouts: {
        advance: async (id) =>
          mayStep() ? advanceRollout({ db, authority, onCommitted, nudgeGroup, handOver }, id) : null,
        wakeAtOf: async (id) => wakeAtIn(await db<Waking[]>`select wake_at from rollouts where id = ${id}`),
      },
      groups: {
        advance: async (id) => (mayStep() ? advanceGroup({ db, nudge }, id) : null),
        wakeAtOf: async (id) =>
          wakeAtIn(await db<Waking[]>`select wake_at from rollout_groups where id = ${id}`),
      },
    },
    { ...handlers, identityKey: address.identityKey },
    log,
  );
  const registration = createRegistration(engine, { ...endpoint, build: FAIRLEAD_VERSION }, log);
  const sweep = startSweep(db, engine, registration, log);
  return {
    answers: registration.answers,
    async stop() {
      await sweep.stop();
      engine.close();
      await endpoint.close();
    },
  };
}

interface Waking {
  readonly wake_at: Date | null;
}

const wakeAtIn = ([row]: readonly Waking[]): number | null => row?.wake_at?.getTime() ?? null;
