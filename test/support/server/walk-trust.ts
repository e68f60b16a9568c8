// Calls in order: signing in, the first run, trust, signing keys and API keys.

import type { ApiKeyCreated } from "../../../src/core/protocol/api-key-api.ts";
import type { BundleView, KeyView } from "../../../src/core/protocol/keys-api.ts";
import type { TrustBundle } from "../../../src/core/snapshot/trust-bundle.ts";
import { createApiKey } from "../../../src/server/auth/api-keys.ts";
import { newId } from "./site.ts";
import { signTrustBundle } from "./trust-bundle.ts";
import { API, type Examples } from "./walk-example.ts";
import type { Walk } from "./walk-site.ts";

const propose = ({ make }: Walk) => make<KeyView>("POST", "/keys", { name: `online-${newId()}` });

const newApiKey = async ({ make }: Walk) =>
  (await make<ApiKeyCreated>("POST", "/api-keys", { name: `key-${newId()}`, scopes: [] })).key;

const signInCode = async ({ make }: Walk): Promise<string> =>
  (await make<{ url: string }>("POST", "/auth/sign-in-link")).url.split("#code=")[1]!;

/** The next bundle after the newest, as the root signs it. */
async function nextBundle({ make, site, db }: Walk, changes: Partial<TrustBundle> = {}): Promise<string> {
  const { version } = await make<BundleView>("GET", "/trust/bundles/newest");
  const [newest] = await db<{ content: TrustBundle }[]>`
    select content from trust_bundles where version = ${version}`;
  const bundle = { ...newest!.content, ...changes };
  return signTrustBundle(site, { bundle, draft: { version: version + 1 } }).frame.toString("base64");
}

/** An online key that the newest bundle names. */
async function introduced(walk: Walk): Promise<KeyView> {
  const key = await propose(walk);
  const [newest] = await walk.db<{ content: TrustBundle }[]>`
    select content from trust_bundles order by version desc limit 1`;
  const { online_keys } = newest!.content;
  const { key_id, public_key } = key;
  const entry = { ...online_keys[0]!, key_id, public_key };
  const trust_bundle = await nextBundle(walk, { online_keys: [...online_keys, entry] });
  await walk.make("POST", "/trust/bundles", { trust_bundle });
  return key;
}

const nodeIds = async ({ db }: Walk): Promise<string[]> =>
  (await db<{ id: string }[]>`select id from nodes`).map(({ id }) => id);

export const TRUST_EXAMPLES: Examples = {
  [`POST ${API}/auth/token`]: async ({ db }) => ({
    url: `${API}/auth/token`,
    payload: { api_key: await createApiKey(db, "caller", []) },
    status: 200,
  }),
  [`POST ${API}/auth/sign-in-link`]: () => ({ url: `${API}/auth/sign-in-link`, status: 200 }),
  [`POST ${API}/auth/session`]: async (walk) => ({
    url: `${API}/auth/session`,
    payload: { code: await signInCode(walk) },
    status: 204,
  }),
  [`DELETE ${API}/auth/session`]: () => ({ url: `${API}/auth/session`, status: 204 }),
  [`GET ${API}/whoami`]: () => ({ url: `${API}/whoami`, status: 200 }),
  [`GET ${API}/grants`]: () => ({ url: `${API}/grants?limit=1`, status: 200 }),
  [`POST ${API}/grants`]: () => ({
    url: `${API}/grants`,
    payload: { issuer: "https://id.example", subject: "ann", scopes: ["admin"] },
    status: 200,
  }),
  [`GET ${API}/api-keys`]: () => ({ url: `${API}/api-keys?limit=1`, status: 200 }),
  [`POST ${API}/api-keys`]: () => ({
    url: `${API}/api-keys`,
    payload: { name: `key-${newId()}`, scopes: ["admin"] },
    status: 201,
  }),
  [`POST ${API}/api-keys/{id}/revoke`]: async (walk) => ({
    url: `${API}/api-keys/${(await newApiKey(walk)).id}/revoke`,
    payload: { reason: "left" },
    status: 200,
  }),
  [`POST ${API}/bootstrap`]: async ({ newcomer }) => {
    const { call, first_run_secret } = await newcomer();
    return { call, url: `${API}/bootstrap`, payload: { first_run_secret }, status: 200 };
  },
  [`POST ${API}/bootstrap/trust-bundle`]: async ({ newcomer }) => {
    const { call, site, first_run_secret } = await newcomer();
    const trust_bundle = signTrustBundle(site).frame.toString("base64");
    const payload = { first_run_secret, trust_bundle };
    return { call, url: `${API}/bootstrap/trust-bundle`, payload, status: 200 };
  },
  [`GET ${API}/trust`]: () => ({ url: `${API}/trust`, status: 200 }),
  [`GET ${API}/trust/bundles/newest`]: () => ({ url: `${API}/trust/bundles/newest`, status: 200 }),
  [`POST ${API}/trust/bundles`]: async (walk) => ({
    url: `${API}/trust/bundles`,
    payload: { trust_bundle: await nextBundle(walk), reason: "renewed" },
    status: 201,
  }),
  [`GET ${API}/keys`]: () => ({ url: `${API}/keys`, status: 200 }),
  [`POST ${API}/keys`]: () => ({ url: `${API}/keys`, payload: { name: `online-${newId()}` }, status: 201 }),
  [`POST ${API}/keys/{id}/promote`]: async (walk) => ({
    url: `${API}/keys/${(await introduced(walk)).key_id}/promote`,
    payload: { abandon: await nodeIds(walk) },
    status: 200,
  }),
  [`POST ${API}/keys/{id}/retire`]: async (walk) => ({
    url: `${API}/keys/${(await propose(walk)).key_id}/retire`,
    payload: {},
    status: 200,
  }),
  [`POST ${API}/authority/confirm-time`]: () => ({
    url: `${API}/authority/confirm-time`,
    payload: { time: new Date().toISOString(), reason: "checked by hand" },
    status: 200,
  }),
};
