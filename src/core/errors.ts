/** The one error of the product. Its message never carries a secret. */
import { ERROR_CODES, EXIT, type ErrorCode } from "./error-codes.ts";

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
  body(): ErrorBody {
    return {
      code: this.code,
      message: this.message,
      next: ERROR_CODES[this.code].next,
      ...(this.detail === undefined ? {} : { detail: this.detail }),
    };
  }
}

export const httpStatusOf = (errorCode: ErrorCode): number => ERROR_CODES[errorCode].http;
export const exitCodeOf = (errorCode: ErrorCode): number => EXIT[ERROR_CODES[errorCode].exit];
export const isErrorCode = (value: unknown): value is ErrorCode =>
  typeof value === "string" && Object.hasOwn(ERROR_CODES, value);

/** What to do about a code that came from elsewhere; null for one that this list does not know. */
export const nextOf = (errorCode: string): string | null =>
  isErrorCode(errorCode) ? ERROR_CODES[errorCode].next : null;

/** Ends every exhaustive switch. */
export function unreachable(value: never): never {
  throw new FairleadError("INTERNAL", `unexpected value ${JSON.stringify(value)}`);
}
