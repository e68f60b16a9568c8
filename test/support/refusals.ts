/** For tables of refusals: the code of the error that a call must throw. */
import type { ErrorCode } from "../../src/core/error-codes.ts";
import { FairleadError } from "../../src/core/errors.ts";

export function codeOf(call: () => unknown): ErrorCode | "accepted" {
  try {
    call();
  } catch (error) {
    if (error instanceof FairleadError) return error.code;
    throw error;
  }
  return "accepted";
}

/** The error itself, for what it says and where it points. */
export function refusalOf(call: () => unknown): FairleadError {
  try {
    call();
  } catch (error) {
    if (error instanceof FairleadError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}
