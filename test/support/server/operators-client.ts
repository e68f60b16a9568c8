// The operators' API of a site, called as an administrator and without a listener.

import type { FastifyInstance } from "fastify";
import { createApiKey } from "../../../src/server/auth/api-keys.ts";
import type { Database } from "../../../src/server/db/database.ts";

export type Method = "GET" | "POST" | "PUT" | "DELETE";

export interface Answer {
  readonly status: number;
  readonly body: unknown;
  /** Of an error. */
  readonly code: string | undefined;
  readonly message: string | undefined;
}

export type Ask = (method: Method, path: string, payload?: object | string) => Promise<Answer>;

export async function administrator(app: FastifyInstance, db: Database, name = "boss"): Promise<Ask> {
  const apiKey = await createApiKey(db, name, ["admin"]);
  const answer = await app.inject({
    method: "POST",
    url: "/api/v1/auth/token",
    payload: { api_key: apiKey },
  });
  const { token } = answer.json<{ token: string }>();
  return async (method, path, payload) => {
    const said = await app.inject({
      method,
      url: `/api/v1${path}`,
      headers: {
        authorization: `Bearer ${token}`,
        ...(payload === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(payload === undefined ? {} : { payload }),
    });
    const body: unknown = said.body === "" ? null : said.json();
    const { error } = (body ?? {}) as { error?: { code: string; message: string } };
    return { status: said.statusCode, body, code: error?.code, message: error?.message };
  };
}
