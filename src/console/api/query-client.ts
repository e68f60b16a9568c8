/** One cache. A refused session anywhere asks again who we are, and the sign-in page follows from the answer. */
import { QueryCache, QueryClient } from "@tanstack/react-query";
import { FairleadError, httpStatusOf } from "../../core/errors.ts";
import { KEYS } from "./queries.ts";

const RETRIES_MAX = 2;

export function createQueryClient(): QueryClient {
  const client = new QueryClient({
    queryCache: new QueryCache({
      onError: (error, query) => {
        if (isSignedOut(error) && query.queryKey[0] !== KEYS.whoami[0]) {
          void client.resetQueries({ queryKey: KEYS.whoami });
        }
      },
    }),
    defaultOptions: {
      queries: { staleTime: 1_000, retry: (failures, error) => mayPass(error) && failures < RETRIES_MAX },
    },
  });
  return client;
}

export const isSignedOut = (error: unknown): boolean =>
  error instanceof FairleadError && httpStatusOf(error.code) === 401;

/** Only what can go away by itself is tried again; a refusal stays one. */
const mayPass = (error: unknown): boolean =>
  error instanceof FairleadError && (error.code === "UNREACHABLE" || error.code === "NOT_READY");
