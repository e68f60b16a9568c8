/**
 * One attempt to hand a message over, in the form of the Standard Webhooks specification.
 *
 * 1. The id is the delivery's, the same with each attempt; timestamp and signature are of this attempt.
 * 2. Taken is what a 2xx answers. A redirect is not followed, and is a failure like any other answer.
 * 3. Nothing of the answer's body is read: whoever answers cannot make us hold or show anything.
 */
import { Webhook } from "standardwebhooks";
import { FairleadError } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import { createHttpClient } from "../../host/bounded-http.ts";
import { FAIRLEAD_VERSION } from "../../core/version.ts";
import { checkWebhookUrl, guardedLookup } from "./addresses.ts";

export interface Message {
  readonly id: string;
  readonly url: string;
  readonly secret: string;
  readonly body: unknown;
}

export type Sent =
  | { readonly kind: "taken"; readonly status: number }
  /** The receiver wants no more of them, says the specification. */
  | { readonly kind: "gone"; readonly status: number }
  | { readonly kind: "failed"; readonly status: number | null; readonly error: string };

export interface SendOptions {
  readonly allowPrivate: boolean;
  readonly now: () => number;
  readonly timeoutMs?: number;
  readonly signal: AbortSignal;
}

const GONE = 410;

export async function sendMessage(message: Message, options: SendOptions): Promise<Sent> {
  const { allowPrivate, now, timeoutMs = LIMITS.webhookTimeoutMs, signal } = options;
  try {
    const url = checkWebhookUrl(message.url, allowPrivate);
    const client = createHttpClient({ origin: url.origin, lookup: guardedLookup(allowPrivate) });
    try {
      const bytes = Buffer.from(JSON.stringify(message.body));
      const { status, body } = await client.stream(`${url.pathname}${url.search}`, {
        method: "POST",
        bytes,
        headers: headersOf(message, bytes, now()),
        timeoutMs,
        signal,
      });
      body.destroy(); // (3)
      if (status >= 200 && status < 300) return { kind: "taken", status }; // (2)
      return status === GONE
        ? { kind: "gone", status }
        : { kind: "failed", status, error: `answered ${status}` };
    } finally {
      client.close();
    }
  } catch (error) {
    if (signal.aborted) throw error;
    return { kind: "failed", status: null, error: wordsOf(error) };
  }
}

function headersOf({ id, secret }: Message, bytes: Buffer, now: number): Record<string, string> {
  const at = new Date(now);
  return {
    "content-type": "application/json",
    "user-agent": `fairlead/${FAIRLEAD_VERSION}`,
    "webhook-id": id, // (1)
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": new Webhook(secret).sign(id, at, bytes),
  };
}

const wordsOf = (error: unknown): string =>
  error instanceof FairleadError ? `${error.code}: ${error.message}` : String(error);
