// Calls in order: events, incidents and webhooks.

import type { DeliveryView, IncidentId, WebhookCreated } from "../../../src/core/protocol/incident-api.ts";
import { RolloutId } from "../../../src/core/ids.ts";
import { raiseIncidents } from "../../../src/server/incidents/raise.ts";
import { newId } from "./site.ts";
import { API, type Examples } from "./walk-example.ts";
import { newRollout } from "./walk-rollouts.ts";
import type { Walk } from "./walk-site.ts";

async function incident(walk: Walk): Promise<IncidentId> {
  const { id: rolloutId, nodeId } = await newRollout(walk);
  const draft = {
    category: "upgrade_failed",
    severity: "critical",
    nodeId,
    title: "it did not come back",
    detail: { code: "BACKUP_CORRUPT" },
    recoveryPlan: "1. restore the backup",
  } as const;
  await walk.db.begin(async (tx) => raiseIncidents(tx, RolloutId.parse(rolloutId), [draft], Date.now()));
  const [row] = await walk.db<{ id: IncidentId }[]>`select id from incidents where rollout_id = ${rolloutId}`;
  return row!.id;
}

const wish = () => ({ name: `hook-${newId()}`, url: "http://127.0.0.1:9/", events: ["incident_opened"] });
const hook = async ({ make }: Walk): Promise<string> =>
  (await make<WebhookCreated>("POST", "/webhooks", wish())).webhook.id;

async function delivery(walk: Walk): Promise<{ readonly url: string; readonly id: string }> {
  const url = `/webhooks/${await hook(walk)}`;
  const { id } = await walk.make<DeliveryView>("POST", `${url}/test`);
  return { url: `${API}${url}/deliveries`, id };
}

const step = (verb: string): Examples => ({
  [`POST ${API}/incidents/{id}/${verb}`]: async (walk) => ({
    url: `${API}/incidents/${await incident(walk)}/${verb}`,
    payload: { note: "seen" },
    status: 200,
  }),
});

const switched = (verb: string, status: number): Examples => ({
  [`POST ${API}/webhooks/{id}/${verb}`]: async (walk) => ({
    url: `${API}/webhooks/${await hook(walk)}/${verb}`,
    status,
  }),
});

export const TOLD_EXAMPLES: Examples = {
  [`GET ${API}/events`]: async (walk) => {
    await newRollout(walk);
    return { url: `${API}/events?after=0`, status: 200 };
  },
  [`GET ${API}/rollouts/{id}/events`]: async (walk) => ({
    url: `${API}/rollouts/${(await newRollout(walk)).id}/events`,
    status: 200,
  }),
  [`GET ${API}/incidents`]: async (walk) => {
    await incident(walk);
    return { url: `${API}/incidents?status=open&limit=1`, status: 200 };
  },
  [`GET ${API}/incidents/{id}`]: async (walk) => ({
    url: `${API}/incidents/${await incident(walk)}`,
    status: 200,
  }),
  ...step("acknowledge"),
  ...step("resolve"),
  [`GET ${API}/webhooks`]: async (walk) => {
    await hook(walk);
    return { url: `${API}/webhooks`, status: 200 };
  },
  [`POST ${API}/webhooks`]: () => ({ url: `${API}/webhooks`, payload: wish(), status: 201 }),
  [`GET ${API}/webhooks/{id}`]: async (walk) => ({
    url: `${API}/webhooks/${await hook(walk)}`,
    status: 200,
  }),
  [`DELETE ${API}/webhooks/{id}`]: async (walk) => ({
    url: `${API}/webhooks/${await hook(walk)}`,
    status: 204,
  }),
  ...switched("enable", 200),
  ...switched("disable", 200),
  ...switched("test", 202),
  [`GET ${API}/webhooks/{id}/deliveries`]: async (walk) => ({ url: (await delivery(walk)).url, status: 200 }),
  [`POST ${API}/webhooks/{id}/deliveries/{deliveryId}/redeliver`]: async (walk) => {
    const { url, id } = await delivery(walk);
    return { url: `${url}/${id}/redeliver`, status: 202 };
  },
};
