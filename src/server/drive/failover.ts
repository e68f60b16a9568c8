/**
 * One engine behind several addresses: the nodes of a Restate cluster, of which any may be away.
 *
 * 1. An address that does not answer, or answers that it cannot, is left for the next; the one that answered is kept.
 * 2. What is sent here may arrive twice: nudges and registrations are made for that.
 */
import { FairleadError } from "../../core/errors.ts";
import {
  createHttpClient,
  type HttpClient,
  type HttpRequest,
  type HttpResponse,
  type HttpTarget,
} from "../../host/bounded-http.ts";

export interface FailoverClient {
  request(path: string, request?: HttpRequest): Promise<HttpResponse>;
  close(): void;
}

export function createFailoverClient(targets: readonly HttpTarget[]): FailoverClient {
  const clients = targets.map((target) => createHttpClient(target));
  let current = 0;

  async function ask(client: HttpClient, path: string, request: HttpRequest): Promise<Answer> {
    try {
      const response = await client.request(path, request);
      return { kind: response.status >= 500 ? "unable" : "answered", response };
    } catch (error) {
      if (error instanceof FairleadError && (error.code === "UNREACHABLE" || error.code === "TIMEOUT"))
        return { kind: "silent", error };
      throw error;
    }
  }

  return {
    async request(path, request = {}) {
      let last: Answer | undefined;
      for (let tried = 0; tried < clients.length; tried += 1) {
        const at = current;
        last = await ask(clients[at]!, path, request);
        if (last.kind === "answered") return last.response;
        if (current === at) current = (at + 1) % clients.length; // (1)
      }
      if (last?.kind === "silent") throw last.error;
      return last!.response;
    },
    close() {
      for (const client of clients) client.close();
    },
  };
}

type Answer =
  | { readonly kind: "answered" | "unable"; readonly response: HttpResponse }
  | { readonly kind: "silent"; readonly error: FairleadError };
