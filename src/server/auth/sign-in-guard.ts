/**
 * A bound on failed sign-ins per address, and on enrollments likewise.
 *
 * 1. Only failures count, and only failures are refused: many operators share an address behind a proxy or a NAT, and
 *    one of them who fails, or attacks, must not lock the others out. A right credential always gets in.
 * 2. A credential has 256 bits and cannot be guessed: the bound is a signal and a brake, not what keeps strangers out.
 * 3. An address that goes beyond the bound leaves one event a minute.
 */
import type { ErrorCode } from "../../core/error-codes.ts";
import { FairleadError } from "../../core/errors.ts";
import type { Clock } from "../../host/clock.ts";
import type { Database } from "../db/database.ts";
import { appendEvents } from "../events/append.ts";

export interface SignInGuard {
  /** Runs an attempt from this address. */
  attempt<T>(address: string, work: () => Promise<T>): Promise<T>;
}

const WINDOW_MS = 60_000;
const ADDRESSES_MAX = 10_000;
const FAILURES: ReadonlySet<ErrorCode> = new Set([
  "UNAUTHENTICATED",
  "TOKEN_INVALID",
  "FIRST_RUN_SECRET_WRONG",
  "ENROLLMENT_REFUSED",
  "CERTIFICATE_REFUSED",
]);

interface Window {
  failures: number;
  readonly untilMs: number;
}

export function createSignInGuard(
  db: Database,
  clock: Pick<Clock, "monotonic">,
  {
    of,
    failuresPerMinuteMax,
  }: { readonly of: "sign_in" | "enrollment"; readonly failuresPerMinuteMax: number },
): SignInGuard {
  const windows = new Map<string, Window>();

  function windowOf(address: string, now: number): Window {
    const known = windows.get(address);
    if (known !== undefined && known.untilMs > now) return known;
    windows.delete(address); // the newest stand last
    const opened = { failures: 0, untilMs: now + WINDOW_MS };
    windows.set(address, opened);
    const [oldest] = windows.keys();
    if (windows.size > ADDRESSES_MAX && oldest !== undefined) windows.delete(oldest);
    return opened;
  }

  return {
    async attempt(address, work) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof FairleadError) || !FAILURES.has(error.code)) throw error; // (1)
        const now = clock.monotonic();
        const window = windowOf(address, now);
        window.failures += 1;
        if (window.failures <= failuresPerMinuteMax) throw error;
        if (window.failures === failuresPerMinuteMax + 1) await noteRefused(db, of, address); // (3)
        throw tooMany(Math.ceil((window.untilMs - now) / 1000));
      }
    },
  };
}

const noteRefused = async (db: Database, of: string, address: string): Promise<void> =>
  db.begin((tx) => appendEvents(tx, [{ kind: `${of}.refused`, data: { address } }]));

const tooMany = (seconds: number): FairleadError =>
  new FairleadError(
    "TOO_MANY_REQUESTS",
    `too many failed attempts from this address: try again in ${seconds} s, or with the right secret`,
    { retry_after_seconds: seconds },
  );
