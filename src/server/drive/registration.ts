/**
 * Keeps the engine knowing where handlers are: at start, again when the engine comes back empty, when the address it
 * knows no longer answers, and when this server is of a newer build than the one it calls. `deployments.ts` decides;
 * here it is done.
 *
 * 1. While a real invocation comes back, nothing is moved.
 * 2. An older build's handlers are taken out when nothing is pinned to them, and late: a node of the engine that has not
 *    heard of the newer ones would still pin work to them.
 */
import { randomUUID } from "node:crypto";
import type { Logger } from "../../host/log.ts";
import { decideRegistration, olderThan, sameAddress, type Deployment, type Mine } from "./deployments.ts";
import type { Engine } from "./engine.ts";
import { answersPing } from "./ping.ts";
import { PROBE_SERVICE } from "./objects.ts";

const PROBE_TIMEOUT_MS = 3_000;
/** Turns of the sweep, a second each. */
const DRAIN_AFTER_TURNS = 15;
const TAKE_BACK_AFTER_TURNS = 2;

export interface Registration {
  ensure(): Promise<void>;
  /** True when a real invocation went through the engine and came back. */
  answers(): Promise<boolean>;
}

export interface RegistrationOptions extends Mine {
  /** What the handlers here are called. */
  readonly services: readonly string[];
}

export function createRegistration(engine: Engine, options: RegistrationOptions, log: Logger): Registration {
  const mine: Mine = { uri: options.uri, build: options.build };
  let registered = false;
  /** Once in a process: an engine that still does not know them will not by being told again. */
  let overwritten = false;
  let draining = true;
  let turns = 0;
  let unanswered = 0;

  async function ensure(): Promise<void> {
    turns += 1;
    if (registered && (await answers())) {
      unanswered = 0;
      if (await knowsAll()) {
        if (draining) await drain();
        return; // (1)
      }
    } else if (registered) unanswered += 1;
    await register();
    registered = true;
  }

  async function register(): Promise<void> {
    const known = await engine.deployments();
    const silent = await silentAmong(known);
    const decided = decideRegistration(mine, known, (uri) => silent.has(uri));
    switch (decided.kind) {
      case "settled":
        if (await isMissingServices(known)) await overwrite();
        return;
      case "register":
        await engine.register(mine, decided.overwrite);
        draining = true;
        turns = 0;
        break;
      case "redirect":
        await engine.redirect(decided.id, mine.uri);
        break;
      case "replace":
        if (unanswered < TAKE_BACK_AFTER_TURNS) return;
        await engine.remove(decided.id);
        await engine.register(mine, true);
        break;
    }
    log.info("handlers registered with the engine", { ...mine, how: decided.kind });
  }

  /** The same version with other handlers: a build between two releases. */
  async function isMissingServices(known: readonly Deployment[]): Promise<boolean> {
    const here = known.some(({ uri, build }) => sameAddress(uri, mine.uri) && build === mine.build);
    return here && !overwritten && !(await knowsAll());
  }

  async function overwrite(): Promise<void> {
    overwritten = true;
    await engine.register(mine, true);
    log.info("handlers registered with the engine", { ...mine, how: "overwrite" });
  }

  async function knowsAll(): Promise<boolean> {
    for (const service of options.services) if (!(await engine.knows(service))) return false;
    return true;
  }

  async function drain(): Promise<void> {
    const older = olderThan(mine, await engine.deployments());
    draining = older.length > 0 || turns < DRAIN_AFTER_TURNS;
    for (const { id, uri, build } of older) {
      if (turns < DRAIN_AFTER_TURNS) continue; // (2)
      if ((await engine.pinnedTo(id)) === 0) {
        await engine.remove(id);
        log.info("handlers of an older build removed from the engine", { uri, build });
      } else if (!sameAddress(uri, mine.uri) && !(await answersPing(uri)))
        await engine.redirect(id, mine.uri);
    }
  }

  async function answers(): Promise<boolean> {
    const nonce = randomUUID();
    try {
      return (await engine.call(PROBE_SERVICE, "answer", nonce, PROBE_TIMEOUT_MS)) === nonce;
    } catch (error) {
      log.debug("engine probe failed", { error: String(error) });
      return false;
    }
  }

  async function silentAmong(known: readonly Deployment[]): Promise<Set<string>> {
    const others = known.filter(({ uri }) => !sameAddress(uri, mine.uri));
    const asked = others.map(async ({ uri }) => ((await answersPing(uri)) ? [] : [uri]));
    return new Set((await Promise.all(asked)).flat());
  }

  return { ensure, answers };
}
