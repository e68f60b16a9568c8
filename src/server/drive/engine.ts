/** Restate as seen from here: its ingress takes work, its admin side knows who does it. */
import { FairleadError } from "../../core/errors.ts";
import { jsonOf, type HttpResponse, type HttpTarget } from "../../host/bounded-http.ts";
import type { Deployment, Mine } from "./deployments.ts";
import { createFailoverClient } from "./failover.ts";

export interface EngineAddress {
  /** One of each per node of the engine. */
  readonly ingress: readonly HttpTarget[];
  readonly admin: readonly HttpTarget[];
  /** Public half of the key that signs the engine's calls to handlers; null trusts the network in between. */
  readonly identityKey: string | null;
}

export interface SendOptions {
  readonly delayMs?: number;
  readonly idempotencyKey?: string;
}

export type Engine = ReturnType<typeof connectEngine>;

export function connectEngine(address: EngineAddress) {
  const ingress = createFailoverClient(address.ingress);
  const admin = createFailoverClient(address.admin);

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

    /** `overwrite` looks at the handlers of a known address again. */
    async register({ uri, build }: Mine, overwrite: boolean): Promise<void> {
      const json = { uri, force: overwrite, metadata: { [BUILD]: build } };
      const request = { method: "POST", json, timeoutMs: 10_000 } as const;
      accepted("the deployment", await admin.request("/deployments", request));
    },

    async deployments(): Promise<Deployment[]> {
      const response = await admin.request("/deployments", { timeoutMs: 3_000 });
      accepted("a look at its deployments", response);
      const list = jsonOf(response) as DeploymentList;
      return (list.deployments ?? []).map(({ id, uri, metadata }) => ({
        id,
        uri: uri ?? "",
        build: metadata?.[BUILD] ?? null,
      }));
    },

    /** The old address is dead (this server was restarted): what was queued for it goes to the new one. */
    async redirect(deploymentId: string, uri: string): Promise<void> {
      const request = { method: "PATCH", json: { uri }, timeoutMs: 10_000 } as const;
      accepted("the new address", await admin.request(`/deployments/${deploymentId}`, request));
    },

    /** Of two replicas that take it out at once, one finds it gone: that is what it wanted. */
    async remove(deploymentId: string): Promise<void> {
      const request = { method: "DELETE", timeoutMs: 10_000 } as const;
      const response = await admin.request(`/deployments/${deploymentId}?force=true`, request);
      if (response.status !== 404) accepted("to forget a deployment", response);
    },

    /** How many invocations have begun there and not ended. */
    async pinnedTo(deploymentId: string): Promise<number> {
      if (!DEPLOYMENT_ID.test(deploymentId)) throw refused("a look at its invocations", deploymentId);
      const query = `select count(*) as n from sys_invocation where pinned_deployment_id = '${deploymentId}' and status <> 'completed'`;
      const request = { method: "POST", json: { query }, headers: ASK_JSON, timeoutMs: 10_000 } as const;
      const response = await admin.request("/query", request);
      accepted("a look at its invocations", response);
      return (jsonOf(response) as { rows: { n: number }[] }).rows[0]?.n ?? 0;
    },

    close() {
      ingress.close();
      admin.close();
    },
  };
}

const BUILD = "fairlead_build";
const ASK_JSON = { accept: "application/json" };
const DEPLOYMENT_ID = /^dp_[A-Za-z0-9]+$/;

interface DeploymentList {
  readonly deployments?: readonly {
    readonly id: string;
    readonly uri?: string;
    readonly metadata?: Readonly<Record<string, string>>;
  }[];
}

function accepted(what: string, response: HttpResponse): void {
  if (response.status >= 300) throw refused(what, response.body.toString("utf8").slice(0, 500));
}

const refused = (what: string, why: string): FairleadError =>
  new FairleadError("NOT_READY", `the engine refused ${what}: ${why}`);
