/** The one error of the product. Its message never carries a secret. */
import { ERROR_CODES, EXIT, type ErrorCode } from "./error-codes.ts";
import type { CodeEntry, Place } from "./error-codes/entry.ts";

export interface ErrorBody {
  readonly code: ErrorCode;
  readonly message: string;
  readonly next: string;
  readonly detail?: Record<string, unknown> | undefined;
}

export class FairleadError extends Error {
  readonly code: ErrorCode;
  readonly detail: Record<string, unknown> | undefined;

  constructor(errorCode: ErrorCode, message: string, detail?: Record<string, unknown>, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "FairleadError";
    this.code = errorCode;
    this.detail = detail;
  }

  /** What a user sees: never the stack, never the cause. */
  body(place: Place = "operator"): ErrorBody {
    return {
      code: this.code,
      message: this.message,
      next: adviceFor(ERROR_CODES[this.code], place),
      ...(this.detail === undefined ? {} : { detail: this.detail }),
    };
  }
}

export const httpStatusOf = (errorCode: ErrorCode): number => ERROR_CODES[errorCode].http;
export const exitCodeOf = (errorCode: ErrorCode): number => EXIT[ERROR_CODES[errorCode].exit];
export const isErrorCode = (value: unknown): value is ErrorCode =>
  typeof value === "string" && Object.hasOwn(ERROR_CODES, value);

/** What to do about a code that came from elsewhere; null for one that this list does not know. */
export const nextOf = (errorCode: string, place: Place = "operator"): string | null =>
  isErrorCode(errorCode) ? adviceFor(ERROR_CODES[errorCode], place) : null;

const adviceFor = ({ next, at }: CodeEntry, place: Place): string =>
  (place === "operator" ? undefined : at[place]) ?? next;

/** Ends every exhaustive switch. */
export function unreachable(value: never): never {
  throw new FairleadError("INTERNAL", `unexpected value ${JSON.stringify(value)}`);
}
