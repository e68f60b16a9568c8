/**
 * The one list of the product's error codes.
 *
 * 1. HTTP status, CLI exit code and the error page of the docs derive from this list.
 * 2. Every code says what to do next.
 */
import type { CodeEntry } from "./error-codes/entry.ts";
import { REQUEST_CODES } from "./error-codes/of-requests.ts";
import { SNAPSHOT_CODES } from "./error-codes/of-snapshots.ts";
import { UPGRADE_CODES } from "./error-codes/of-upgrades.ts";

export { EXIT } from "./error-codes/entry.ts";

export const ERROR_CODES = {
  ...REQUEST_CODES,
  ...SNAPSHOT_CODES,
  ...UPGRADE_CODES,
} as const satisfies Record<string, CodeEntry>;

export type ErrorCode = keyof typeof ERROR_CODES;
