/**
 * Sign-in by link: `fairlead console` prints an address whose fragment carries a single-use code.
 * The fragment never reaches a server's log, and leaves the address bar and the history before the code is used.
 */
import type { z } from "zod";
import { ERROR_CODES } from "../../core/error-codes.ts";
import { FairleadError } from "../../core/errors.ts";
import { WhoAmI as WhoAmISchema } from "../../core/protocol/operator-api.ts";
import { request, send } from "./http.ts";

export type WhoAmI = z.infer<typeof WhoAmISchema>;

let pendingCode: string | null = null;
let isRedeeming = false;

/** Whether a sign-in link is being used; a page with a session is only read. */
export const isSigningIn = (): boolean => pendingCode !== null || isRedeeming;

/** Called once, before the router reads the address. */
export function takeSignInCode(): void {
  const code = codeIn(location.hash);
  if (code === null) return;
  pendingCode = code;
  history.replaceState(history.state, "", location.pathname + location.search);
}

export const codeIn = (hash: string): string | null =>
  new URLSearchParams(hash.replace(/^#/, "")).get("code");

/** Redeems a waiting code first, so that the page has one question to ask: who am I? */
export async function whoAmI(signal: AbortSignal): Promise<WhoAmI> {
  const refused = await redeem();
  return request(WhoAmISchema, "/whoami", { signal }).catch((error: unknown) => {
    throw refused ?? error;
  });
}

/** A link that was used before does not end a session that is still good, so its refusal is only kept. */
async function redeem(): Promise<FairleadError | null> {
  if (pendingCode === null) return null;
  const code = pendingCode;
  pendingCode = null;
  isRedeeming = true;
  try {
    await send("/auth/session", { method: "POST", body: { code } });
    return null;
  } catch (error) {
    if (error instanceof FairleadError && ERROR_CODES[error.code].exit === "unreachable") {
      pendingCode = code;
      throw error;
    }
    return new FairleadError(
      "TOKEN_INVALID",
      "this sign-in link was used before or has expired",
      undefined,
      error,
    );
  } finally {
    isRedeeming = false;
  }
}

export const signOut = (): Promise<Response> => send("/auth/session", { method: "DELETE" });
