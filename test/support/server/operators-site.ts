// A site and its operators' API for one test file, called without a listener.

import type { FastifyInstance } from "fastify";
import { createApiKey } from "../../../src/server/auth/api-keys.ts";
import type { OperatorsDeps } from "../../../src/server/api/deps.ts";
import { startTestDatabases } from "../database.ts";
import { initializeSite, makeSite, startOperators } from "./site.ts";

export type OperatorsSite = Awaited<ReturnType<typeof startOperatorsSite>>;

export async function startOperatorsSite(changes: Partial<OperatorsDeps> = {}) {
  const databases = await startTestDatabases();
  const { db } = await databases.fresh();
  const site = await makeSite(db);
  await initializeSite(db, site);
  const app = await startOperators(db, site, changes);
  return {
    db,
    site,
    app,
    async stop() {
      await app.close();
      await site.remove();
      await databases.stop();
    },
  };
}

export type AdminSite = Awaited<ReturnType<typeof startAdminSite>>;

/** The same with an administrator, who is called by whoever gives their token. */
export async function startAdminSite(changes: Partial<OperatorsDeps> = {}) {
  const site = await startOperatorsSite(changes);
  const admin = await tokenOf(site.app, await createApiKey(site.db, "boss", ["admin"]));
  return { ...site, call: callerOf(site.app), admin };
}

export type Method = "GET" | "POST" | "DELETE" | "PUT" | "HEAD" | "OPTIONS";

export interface Call {
  readonly token?: string;
  readonly payload?: object | string;
  readonly headers?: Record<string, string>;
}

/** As whoever holds the token, or as a stranger. */
export const callerOf =
  (app: FastifyInstance) =>
  async (method: Method, url: string, { token, payload, headers = {} }: Call = {}) =>
    app.inject({
      method,
      url,
      headers: { ...headers, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
      ...(payload === undefined ? {} : { payload }),
    });

export async function tokenOf(app: FastifyInstance, apiKey: string): Promise<string> {
  const answer = await app.inject({
    method: "POST",
    url: "/api/v1/auth/token",
    payload: { api_key: apiKey },
  });
  if (answer.statusCode !== 200) throw new Error(`no token: ${answer.body}`);
  return answer.json<{ token: string }>().token;
}

export const errorOf = (answer: { json: <T>() => T }) =>
  answer.json<{ error: { code: string; message: string; next: string; request_id: string } }>().error;
