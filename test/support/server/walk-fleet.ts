// Calls in order: nodes, the model, revocations, snapshots and manifests.

import { EnrollmentKeyCreate } from "../../../src/core/protocol/enrollment-key-api.ts";
import { createEnrollmentKey } from "../../../src/server/identity/enrollment-keys.ts";
import { digestLike, manifestYaml } from "./creation-site.ts";
import { newId } from "./site.ts";
import { API, examplesFor, type Examples } from "./walk-example.ts";
import { newRollout, started } from "./walk-rollouts.ts";
import type { Walk } from "./walk-site.ts";

const anyNode = ({ node }: Walk) => node(`fleet-${newId()}`);

/** A spec that makes each kind, and what it refers to. */
const SPECS: Readonly<Record<string, object>> = {
  organizations: {},
  policies: { kind: "route", body: { destinations: ["10.0.0.0/8"], via: "mesh", ttl_ms: 1000 } },
  "secret-refs": { organization: "acme", ref: "secret://vault/acme/db" },
  services: { organization: "acme", resources: ["resource:db-main"], address: "db.example:5432" },
  "storage-endpoints": { url: "https://store-1.example:8443/a" },
};

async function resource({ make }: Walk, plural: string): Promise<string> {
  const url = `/model/${plural}/r-${newId()}`;
  await make("PUT", "/model/organizations/acme", {});
  await make("PUT", url, SPECS[plural]);
  return `${API}${url}`;
}

const MODEL_EXAMPLES: Examples = examplesFor(SPECS, (plural, payload) => ({
  [`GET ${API}/model/${plural}`]: async (walk) => {
    await resource(walk, plural);
    return { url: `${API}/model/${plural}?limit=1`, status: 200 };
  },
  [`GET ${API}/model/${plural}/{name}`]: async (walk) => ({
    url: await resource(walk, plural),
    status: 200,
  }),
  [`PUT ${API}/model/${plural}/{name}`]: async (walk) => {
    await walk.make("PUT", "/model/organizations/acme", {});
    return { url: `${API}/model/${plural}/new-${newId()}`, payload, status: 201 };
  },
  [`DELETE ${API}/model/${plural}/{name}`]: async (walk) => ({
    url: await resource(walk, plural),
    status: 204,
  }),
}));

const revocation = async (walk: Walk) => ({
  kind: "degraded_permission",
  subject: "continue_services",
  node_id: await anyNode(walk),
  reason: "drill",
});

async function manifest({ write }: Walk): Promise<string> {
  await write("upgrades/web/v2.yaml", manifestYaml());
  return `${API}/manifests/web/v2`;
}

/** A node that runs what no rollout brought. */
async function mendedNode(walk: Walk): Promise<string> {
  const id = await anyNode(walk);
  const fingerprint = digestLike("7");
  await walk.db`
    insert into node_heartbeats (node_id, received_at, agent_version, applied, programs)
    select node_id, now(), '1', '{}', jsonb_build_array(jsonb_build_object('chain_profile_id', chain_profile_id,
      'running_fingerprint', ${fingerprint}::text, 'installed_fingerprint', ${fingerprint}::text))
    from node_profiles where node_id = ${id}`;
  return id;
}

/** A node that something was published for. */
async function publishedNode(walk: Walk): Promise<string> {
  const { nodeId } = await started(walk, await newRollout(walk));
  return `${API}/nodes/${nodeId}`;
}

async function newEnrollmentKey({ db }: Walk): Promise<string> {
  const request = { name: `rack-${newId()}`, chain_profile_ids: ["web"], node_type: "edge", uses_max: 5 };
  const made = await createEnrollmentKey(db, EnrollmentKeyCreate.parse(request), "key:test");
  return made.enrollment_key.id;
}

/** Its machine asked with an enrollment key and waits. */
async function pendingNode(walk: Walk): Promise<string> {
  const id = await anyNode(walk);
  await walk.db`
    insert into enrollment_key_uses (enrollment_key_id, key_hash, node_id, host, address)
    values (${await newEnrollmentKey(walk)}, ${"a".repeat(64)}, ${id}, 'host', '127.0.0.1')`;
  return id;
}

export const FLEET_EXAMPLES: Examples = {
  ...MODEL_EXAMPLES,
  [`POST ${API}/enrollment-tokens`]: () => ({
    url: `${API}/enrollment-tokens`,
    payload: {
      name: `node-${newId()}`,
      chain_profile_ids: ["web"],
      node_type: "edge",
      labels: { zone: "a" },
    },
    status: 201,
  }),
  [`GET ${API}/enrollment-keys`]: async (walk) => {
    await newEnrollmentKey(walk);
    return { url: `${API}/enrollment-keys?limit=1`, status: 200 };
  },
  [`POST ${API}/enrollment-keys`]: () => ({
    url: `${API}/enrollment-keys`,
    payload: { name: `rack-${newId()}`, chain_profile_ids: ["web"], node_type: "edge", uses_max: 5 },
    status: 201,
  }),
  [`POST ${API}/enrollment-keys/{id}/revoke`]: async (walk) => ({
    url: `${API}/enrollment-keys/${await newEnrollmentKey(walk)}/revoke`,
    payload: { reason: "the rack is complete" },
    status: 200,
  }),
  [`POST ${API}/nodes/{id}/approve`]: async (walk) => ({
    url: `${API}/nodes/${await pendingNode(walk)}/approve`,
    payload: { reason: "seen in the rack" },
    status: 200,
  }),
  [`GET ${API}/nodes`]: async (walk) => {
    await anyNode(walk);
    return { url: `${API}/nodes?limit=1&node_type=edge`, status: 200 };
  },
  [`GET ${API}/nodes/{id}`]: async (walk) => ({ url: `${API}/nodes/${await anyNode(walk)}`, status: 200 }),
  [`GET ${API}/nodes/{id}/events`]: async (walk) => ({
    url: `${await publishedNode(walk)}/events`,
    status: 200,
  }),
  [`POST ${API}/nodes/{id}/adopt`]: async (walk) => ({
    url: `${API}/nodes/${await mendedNode(walk)}/adopt`,
    payload: { reason: "mended by hand", version: "1.0.1" },
    status: 200,
  }),
  [`POST ${API}/nodes/{id}/revoke`]: async (walk) => ({
    url: `${API}/nodes/${await anyNode(walk)}/revoke`,
    payload: { reason: "sold" },
    status: 200,
  }),
  [`POST ${API}/nodes/{id}/profiles`]: async (walk) => ({
    url: `${API}/nodes/${await anyNode(walk)}/profiles`,
    payload: { chain_profile_id: "second", reason: "a second program" },
    status: 200,
  }),
  [`POST ${API}/nodes/{id}/profiles/{profile}/remove`]: async (walk) => {
    const id = await anyNode(walk);
    await walk.make("POST", `/nodes/${id}/profiles`, { chain_profile_id: "second" });
    return { url: `${API}/nodes/${id}/profiles/second/remove`, payload: { reason: "moved" }, status: 200 };
  },
  [`GET ${API}/nodes/{id}/membership`]: async (walk) => ({
    url: `${API}/nodes/${await anyNode(walk)}/membership`,
    status: 200,
  }),
  [`PUT ${API}/nodes/{id}/membership`]: async (walk) => ({
    url: `${API}/nodes/${await anyNode(walk)}/membership`,
    payload: { roles: ["ingress"], peer_address: "10.0.0.1:7400" },
    status: 200,
  }),
  [`GET ${API}/nodes/{id}/snapshots`]: async (walk) => ({
    url: `${await publishedNode(walk)}/snapshots`,
    status: 200,
  }),
  [`GET ${API}/nodes/{id}/snapshots/{scope}`]: async (walk) => ({
    url: `${await publishedNode(walk)}/snapshots/service_assignment`,
    status: 200,
  }),
  [`GET ${API}/snapshots`]: async (walk) => {
    await publishedNode(walk);
    return { url: `${API}/snapshots?attention=true`, status: 200 };
  },
  [`GET ${API}/revocations`]: async (walk) => {
    await walk.make("POST", "/revocations", await revocation(walk));
    return { url: `${API}/revocations?kind=degraded_permission`, status: 200 };
  },
  [`POST ${API}/revocations`]: async (walk) => ({
    url: `${API}/revocations`,
    payload: await revocation(walk),
    status: 201,
  }),
  [`DELETE ${API}/revocations/{seq}`]: async (walk) => {
    const { seq } = await walk.make<{ seq: number }>("POST", "/revocations", await revocation(walk));
    return { url: `${API}/revocations/${seq}`, status: 204 };
  },
  [`GET ${API}/manifests`]: async (walk) => {
    await manifest(walk);
    return { url: `${API}/manifests?chain_profile_id=web`, status: 200 };
  },
  [`GET ${API}/manifests/{profile}/{upgradeId}`]: async (walk) => ({
    url: await manifest(walk),
    status: 200,
  }),
  [`GET ${API}/schemas/upgrade-manifest.json`]: () => ({
    url: `${API}/schemas/upgrade-manifest.json`,
    status: 200,
  }),
};
