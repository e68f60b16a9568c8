/** The operators' API with the key that `fairlead init` left, for what is timed or done thousands of times. */
import type { z } from "zod";
import { TokenResponse } from "../../src/core/protocol/operator-api.ts";
import { createHttpClient, jsonOf, type HttpResponse } from "../../src/host/bounded-http.ts";

export interface Operators {
  get<T extends z.ZodType>(path: string, schema: T): Promise<z.infer<T>>;
  post<T extends z.ZodType>(path: string, json: unknown, schema: T): Promise<z.infer<T>>;
  close(): void;
}

/** Well inside a token's fifteen minutes. */
const TOKEN_AGE_MS_MAX = 5 * 60_000;
const REQUEST_TIMEOUT_MS = 60_000;

export function operatorsOf(origin: string, apiKey: string): Operators {
  const client = createHttpClient({ origin });
  let token: { readonly at: number; readonly value: Promise<string> } | null = null;

  async function signIn(): Promise<string> {
    const response = await client.request("/api/v1/auth/token", {
      method: "POST",
      json: { api_key: apiKey },
    });
    return TokenResponse.parse(jsonOf(good("sign-in", response))).token;
  }

  async function headers(): Promise<Record<string, string>> {
    if (token === null || performance.now() - token.at > TOKEN_AGE_MS_MAX)
      token = { at: performance.now(), value: signIn() };
    return { authorization: `Bearer ${await token.value}` };
  }

  return {
    close: () => client.close(),
    async get(path, schema) {
      const response = await client.request(path, {
        headers: await headers(),
        timeoutMs: REQUEST_TIMEOUT_MS,
      });
      return schema.parse(jsonOf(good(path, response)));
    },
    async post(path, json, schema) {
      const request = {
        method: "POST",
        json,
        headers: await headers(),
        timeoutMs: REQUEST_TIMEOUT_MS,
      } as const;
      return schema.parse(jsonOf(good(path, await client.request(path, request))));
    },
  };
}

function good(what: string, response: HttpResponse): HttpResponse {
  if (response.status < 300) return response;
  throw new Error(`${what}: HTTP ${response.status} ${response.body.toString("utf8").slice(0, 500)}`);
}
