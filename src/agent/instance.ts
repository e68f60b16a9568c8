/**
 * The speaker of a message: one run of an agent on one machine (SNAP-20). The id lies in memory only.
 *
 * 1. It turns from time to time and names the id before it: two clones of one running machine, memory and all, turn to
 *    different ids, and the control plane hears two agents.
 * 2. It turns only once the server has heard the present id, so that the server always knows the one that it follows.
 * 3. A clone has the same random state: the time in nanoseconds goes into the id as well.
 */
import { createHash, randomBytes } from "node:crypto";
import { hostname } from "node:os";
import type { AgentInstance } from "../core/protocol/agent-api.ts";
import type { Clock } from "../host/clock.ts";

/** Each turn costs the server a whole heartbeat; between two turns an unchanged one only moves a time. */
const TURN_MS = 10 * 60_000;

export function createInstance(clock: Clock) {
  const host =
    hostname()
      .replaceAll(/[^!-~]/g, "?")
      .slice(0, 253) || "unknown";
  let instance: AgentInstance = { id: newId(), host, started_at: new Date(clock.now()).toISOString() };
  let turnedAt = clock.monotonic();
  return {
    current: (): AgentInstance => instance,
    /** The server has stored a heartbeat of this id. (2) */
    heard(id: AgentInstance["id"]): void {
      if (id !== instance.id || clock.monotonic() - turnedAt < TURN_MS) return;
      instance = { ...instance, id: newId(), follows: instance.id }; // (1)
      turnedAt = clock.monotonic();
    },
  };
}

const newId = (): string => instanceId(randomBytes(16), process.hrtime.bigint());

/** (3) */
export function instanceId(random: Uint8Array, nanoseconds: bigint): string {
  const hex = createHash("sha256").update(random).update(String(nanoseconds)).digest("hex");
  const variant = "89ab"[Number.parseInt(hex[16]!, 16) % 4]!;
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join("-");
}
