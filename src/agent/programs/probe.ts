/**
 * Asks a program how it is: 2xx is ok, any other answer degraded, none critical.
 * It speaks to loopback only, reads little and waits briefly, so a hung program cannot hang its agent.
 */
import { LIMITS } from "../../core/limits.ts";
import type { ProgramReport } from "../../core/protocol/agent-api.ts";
import { SYNC_STATUS } from "../../core/protocol/agent-api.ts";
import { createHttpClient, type HttpResponse } from "../../host/bounded-http.ts";
import type { HealthProbe } from "./config.ts";

export type ProbeResult = Pick<ProgramReport, "application_health" | "sync_status">;
type SyncStatus = ProbeResult["sync_status"];

export async function probe({ url, sync_field }: HealthProbe, signal?: AbortSignal): Promise<ProbeResult> {
  const { origin, pathname, search } = new URL(url);
  const client = createHttpClient({ origin, maxSockets: 1 });
  try {
    const response = await client.request(pathname + search, {
      timeoutMs: LIMITS.probeTimeoutMs,
      maxResponseBytes: LIMITS.probeBodyBytesMax,
      ...(signal === undefined ? {} : { signal }),
    });
    const application_health = response.status >= 200 && response.status < 300 ? "ok" : "degraded";
    return {
      application_health,
      sync_status: sync_field === undefined ? "synced" : syncOf(response, sync_field),
    };
  } catch {
    signal?.throwIfAborted();
    return { application_health: "critical", sync_status: sync_field === undefined ? "synced" : "stalled" };
  } finally {
    client.close();
  }
}

/** A node that does not say is not known to have stalled: syncing, which no gate fails on, is the honest word. */
function syncOf({ body }: HttpResponse, field: string): SyncStatus {
  try {
    let value: unknown = JSON.parse(body.toString("utf8"));
    for (const name of field.split(".")) {
      if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return "syncing";
      value = (value as Record<string, unknown>)[name];
    }
    if (value === true) return "synced";
    return SYNC_STATUS.find((status) => status === value) ?? "syncing";
  } catch {
    return "syncing";
  }
}
