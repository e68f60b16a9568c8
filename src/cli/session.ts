/** A command's connection to the site of its context. */
import { TokenResponse } from "../core/protocol/operator-api.ts";
import { openApi, type Api, type Credentials } from "./api.ts";
import type { Call } from "./call.ts";
import { contextStore, type CachedToken, type ContextStore, type NamedContext } from "./context.ts";

export interface Session extends NamedContext {
  readonly api: Api;
}

/** A token this close to its end would expire on the way. */
const EXPIRY_MARGIN_MS = 10_000;

export async function withSession<T>(call: Call, work: (session: Session) => Promise<T>): Promise<T> {
  const store = contextStore(call.io.env);
  const named = await store.load(call.context);
  const api = openApi(named.context.server, credentialsOf(named, store, call.io.now));
  try {
    return await work({ ...named, api });
  } finally {
    api.close();
  }
}

export async function exchangeKey(server: string, apiKey: string): Promise<CachedToken> {
  const api = openApi(server, null);
  try {
    return await api.post("/api/v1/auth/token", { api_key: apiKey }, TokenResponse);
  } finally {
    api.close();
  }
}

function credentialsOf({ name, context }: NamedContext, store: ContextStore, now: () => number): Credentials {
  async function renew(): Promise<string> {
    const fresh = await exchangeKey(context.server, context.api_key);
    await store.writeToken(name, fresh);
    return fresh.token;
  }
  return {
    renew,
    async token() {
      const cached = await store.readToken(name).catch(() => undefined); // a damaged cache is no cache
      const live = cached !== undefined && Date.parse(cached.expires_at) > now() + EXPIRY_MARGIN_MS;
      return live ? cached.token : renew();
    },
  };
}
