/**
 * A program needs a moment until it listens. Its first answer is waited for, so that the heartbeat beside the verdict
 * tells of the program and not of its start; whether it is healthy is not decided here.
 */
import { LIMITS } from "../../core/limits.ts";
import { sleep, type Clock } from "../../host/clock.ts";
import type { HealthProbe } from "./config.ts";
import { probe } from "./probe.ts";

const ASK_EVERY_MS = 50;

/** Throws only when the agent is leaving. */
export async function firstAnswer(health: HealthProbe, clock: Clock, signal: AbortSignal): Promise<void> {
  for (const until = clock.monotonic() + LIMITS.firstAnswerWaitMs; clock.monotonic() < until;) {
    if ((await probe(health, signal)).application_health !== "critical") return;
    await sleep(ASK_EVERY_MS, signal);
  }
}
