/** The drive of this replica: handlers that Restate calls, nudges, and the sweep for what was lost. */
import type { Logger } from "../../host/log.ts";
import type { Database } from "../db/database.ts";
import { advanceRollout, type AdvanceDeps } from "../rollout/advance.ts";
import type { Authority } from "../snapshots/authority.ts";
import { connectEngine, type EngineAddress } from "./engine.ts";
import { serveHandlers, type HandlerOptions } from "./endpoint.ts";
import { createNudge, type Nudge } from "./nudge.ts";
import { createRegistration } from "./registration.ts";
import { startSweep } from "./sweep.ts";

export interface DriveDeps {
  readonly db: Database;
  readonly address: EngineAddress;
  readonly authority: Authority;
  readonly handlers: Omit<HandlerOptions, "identityKey">;
  readonly onCommitted: AdvanceDeps["onCommitted"];
  readonly log: Logger;
}

export interface RunningDrive {
  readonly nudge: Nudge;
  /** True when a real invocation went through the engine and came back. */
  answers(): Promise<boolean>;
  stop(): Promise<void>;
}

export async function startDrive(deps: DriveDeps): Promise<RunningDrive> {
  const { db, address, authority, handlers, onCommitted, log } = deps;
  const engine = connectEngine(address);
  const endpoint = await serveHandlers(
    {
      advance: (id) => advanceRollout({ db, authority, onCommitted }, id),
      async wakeAtOf(id) {
        const [row] = await db<{ wake_at: Date | null }[]>`select wake_at from rollouts where id = ${id}`;
        return row?.wake_at?.getTime() ?? null;
      },
    },
    { ...handlers, identityKey: address.identityKey },
    log,
  );
  const registration = createRegistration(engine, endpoint.uri, log);
  const sweep = startSweep(db, engine, registration, log);
  return {
    nudge: createNudge(db, engine, log),
    answers: registration.answers,
    async stop() {
      await sweep.stop();
      engine.close();
      await endpoint.close();
    },
  };
}
