/**
 * Keeps the engine knowing where handlers are: at start, again when the engine comes back empty, and when the address
 * it knows no longer answers. A restarted server has a new port, a dead replica none: work queued for the old address
 * is redirected to this one.
 */
import { randomUUID } from "node:crypto";
import type { Logger } from "../../host/log.ts";
import type { Engine } from "./engine.ts";
import { PROBE_SERVICE, ROLLOUT_OBJECT } from "./objects.ts";

const PROBE_TIMEOUT_MS = 3_000;

export interface Registration {
  ensure(): Promise<void>;
  /** True when a real invocation went through the engine and came back. */
  answers(): Promise<boolean>;
}

export function createRegistration(engine: Engine, uri: string, log: Logger): Registration {
  let registered = false;

  async function ensure(): Promise<void> {
    if (registered && (await engine.knows(ROLLOUT_OBJECT)) && (await answers())) return;
    const known = await engine.deployments();
    const mine = known.some((deployment) => sameAddress(deployment.uri, uri));
    if (!mine) {
      const [old] = known;
      if (old === undefined) await engine.register(uri);
      else await engine.redirect(old.id, uri);
      log.info("handlers registered with the engine", { uri, redirected: old !== undefined });
    }
    registered = true;
  }

  async function answers(): Promise<boolean> {
    const nonce = randomUUID();
    try {
      return (await engine.call(PROBE_SERVICE, "answer", nonce, PROBE_TIMEOUT_MS)) === nonce;
    } catch (error) {
      log.debug("the engine did not answer a probe", { error: String(error) });
      return false;
    }
  }

  return { ensure, answers };
}

const sameAddress = (left: string, right: string): boolean =>
  left.replace(/\/$/, "") === right.replace(/\/$/, "");
