/** Restate as seen from here: its ingress takes work, its admin side knows who does it. */
import { FairleadError } from "../../core/errors.ts";
import { createHttpClient, jsonOf, type HttpTarget } from "../../host/bounded-http.ts";

export interface EngineAddress {
  readonly ingress: HttpTarget;
  readonly admin: HttpTarget;
  /** Public half of the key that signs the engine's calls to handlers; null trusts the network in between. */
  readonly identityKey: string | null;
}

export interface SendOptions {
  readonly delayMs?: number;
  readonly idempotencyKey?: string;
}

export type Engine = ReturnType<typeof connectEngine>;

export function connectEngine(address: EngineAddress) {
  const ingress = createHttpClient(address.ingress);
  const admin = createHttpClient(address.admin);

  async function post(path: string, json: unknown, headers: Record<string, string>, timeoutMs: number) {
    const response = await ingress.request(path, { method: "POST", json, headers, timeoutMs });
    if (response.status >= 300) {
      throw new FairleadError("NOT_READY", `the engine answered ${response.status} to ${path}`, {
        status: response.status,
      });
    }
    return response;
  }

  return {
    /** Queued when it returns; the handler runs later. */
    async send(
      service: string,
      key: string,
      handler: string,
      json: unknown,
      options: SendOptions = {},
    ): Promise<void> {
      const delay =
        options.delayMs === undefined ? "" : `?delay=${Math.max(0, Math.round(options.delayMs))}ms`;
      const headers =
        options.idempotencyKey === undefined ? {} : { "idempotency-key": options.idempotencyKey };
      await post(`/${service}/${key}/${handler}/send${delay}`, json, headers, 5_000);
    },

    /** Waits for the answer of a real invocation. */
    async call(service: string, handler: string, json: unknown, timeoutMs: number): Promise<unknown> {
      return jsonOf(await post(`/${service}/${handler}`, json, {}, timeoutMs));
    },

    async knows(service: string): Promise<boolean> {
      const { status } = await admin.request(`/services/${service}`, { timeoutMs: 3_000 });
      return status === 200;
    },

    async register(uri: string): Promise<void> {
      const response = await admin.request("/deployments", {
        method: "POST",
        json: { uri, force: false },
        timeoutMs: 10_000,
      });
      if (response.status >= 300) {
        throw new FairleadError(
          "NOT_READY",
          `the engine refused the deployment: ${response.body.toString("utf8").slice(0, 500)}`,
        );
      }
    },

    async deployments(): Promise<{ id: string; uri: string }[]> {
      const response = await admin.request("/deployments", { timeoutMs: 3_000 });
      const list = jsonOf(response) as { deployments?: { id: string; uri?: string }[] };
      return (list.deployments ?? []).map(({ id, uri }) => ({ id, uri: uri ?? "" }));
    },

    /** The old address is dead (this server was restarted): what was queued for it goes to the new one. */
    async redirect(deploymentId: string, uri: string): Promise<void> {
      const response = await admin.request(`/deployments/${deploymentId}`, {
        method: "PATCH",
        json: { uri },
        timeoutMs: 10_000,
      });
      if (response.status >= 300) {
        throw new FairleadError(
          "NOT_READY",
          `the engine refused the new address: ${response.body.toString("utf8").slice(0, 500)}`,
        );
      }
    },

    close() {
      ingress.close();
      admin.close();
    },
  };
}
