/** The lab's operator: the CLI, and plain reads of the API for whoever waits for something. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import {
  EnrollmentTokenResponse,
  NodeList,
  NodeUpgradeList,
  RolloutList,
  RolloutView,
  TokenResponse,
  type NodeUpgradeView,
  type NodeView,
} from "../../../src/core/protocol/operator-api.ts";
import { GroupView } from "../../../src/core/protocol/group-api.ts";
import { commandEnv, FAIRLEAD, NODE } from "../../../src/demo/command.ts";
import { createHttpClient, jsonOf } from "../../../src/host/bounded-http.ts";
import { EnrollmentToken, formatToken } from "../../../src/trust/pins.ts";
import { fairleadHere, type Ran, ranProcess } from "../cli.ts";

const Context = z.object({
  server: z.string(),
  api_key: z.string(),
  pins: z.object({
    cluster_id: z.string(),
    ca_pin: z.string(),
    root_pin: z.string(),
    min_bundle_version: z.number(),
  }),
});

export const fairlead = async (home: string, ...args: string[]): Promise<Ran> =>
  fairleadHere(args, { env: commandEnv(home) });

/** As its own process: the server's commands, and whatever depends on being one. */
export const fairleadProcess = async (home: string, ...args: string[]): Promise<Ran> =>
  ranProcess([NODE, FAIRLEAD, ...args], commandEnv(home));

export interface Answered {
  readonly status: number;
  readonly code: string | null;
  readonly detail: Record<string, unknown>;
}

export type Operator = Awaited<ReturnType<typeof openOperator>>;

/** After `init`: uses the context that it wrote. */
export async function openOperator(home: string) {
  const { server, api_key, pins } = Context.parse(
    JSON.parse(await readFile(join(home, "contexts", "default.json"), "utf8")),
  );
  const client = createHttpClient({ origin: server });
  let headers: Record<string, string> = {};

  async function call(path: string, json?: unknown): Promise<unknown> {
    const response = await client.request(path, {
      headers,
      ...(json === undefined ? {} : { method: "POST", json }),
    });
    if (response.status >= 300) throw new Error(`${path}: ${response.status} ${response.body.toString()}`);
    return jsonOf(response);
  }

  const { token } = TokenResponse.parse(await call("/api/v1/auth/token", { api_key }));
  headers = { authorization: `Bearer ${token}` };

  return {
    fairlead: (...args: string[]): Promise<Ran> => fairlead(home, ...args),
    rollout: async (id: string): Promise<RolloutView> =>
      RolloutView.parse(await call(`/api/v1/rollouts/${id}`)),
    rollouts: async (): Promise<RolloutView[]> => RolloutList.parse(await call("/api/v1/rollouts")).rollouts,
    upgrades: async (id: string): Promise<NodeUpgradeView[]> =>
      NodeUpgradeList.parse(await call(`/api/v1/rollouts/${id}/nodes`)).nodes,
    group: async (id: string): Promise<GroupView> =>
      GroupView.parse(await call(`/api/v1/rollout-groups/${id}`)),
    /** A signal: what was answered, refusals included. */
    async ask(path: string, body: object = {}, key?: string): Promise<Answered> {
      const idempotency = key === undefined ? {} : { "idempotency-key": key };
      const request = { method: "POST", json: body, headers: { ...headers, ...idempotency } } as const;
      const response = await client.request(`/api/v1/${path}`, request);
      const answer = jsonOf(response) as { error?: { code: string; detail?: Record<string, unknown> } };
      return {
        status: response.status,
        code: answer.error?.code ?? null,
        detail: answer.error?.detail ?? {},
      };
    },
    async node(name: string): Promise<NodeView> {
      const { nodes } = NodeList.parse(await call("/api/v1/nodes"));
      const named = nodes.filter((node) => node.name === name);
      return named.find((node) => node.revoked_at === null) ?? named[0]!;
    },
    /** As `fairlead node token` makes it, without the cost of a process. */
    async enrollmentToken(
      name: string,
      profile: string,
      type: string,
      labels: Readonly<Record<string, string>> = {},
    ): Promise<string> {
      const request = { name, chain_profile_ids: [profile], node_type: type, labels };
      const { secret } = EnrollmentTokenResponse.parse(await call("/api/v1/enrollment-tokens", request));
      const { cluster_id, ca_pin, root_pin, min_bundle_version } = pins;
      const parts = {
        clusterId: cluster_id,
        caPin: ca_pin,
        rootPin: root_pin,
        minBundleVersion: min_bundle_version,
      };
      return formatToken(EnrollmentToken.parse({ ...parts, secret }));
    },
    close: () => client.close(),
  };
}
