/** What the kernel says about a file, in the product's codes. What has no code of ours stays as it is. */
import type { ErrorCode } from "../core/error-codes.ts";
import { FairleadError } from "../core/errors.ts";

const CODES: Readonly<Record<string, ErrorCode>> = {
  ENOSPC: "DISK_FULL",
  EDQUOT: "DISK_FULL",
  ELOOP: "PATH_REFUSED",
  ENAMETOOLONG: "PATH_REFUSED",
  ENOENT: "FILE_NOT_FOUND",
};

/** The `errno` name of a system error, such as `ENOENT`. */
export function errnoOf(error: unknown): string | undefined {
  const code: unknown = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
}

/** The code for a system error about a file; undefined for one that has none. */
export function fileErrorCode(error: unknown): ErrorCode | undefined {
  const errno = errnoOf(error);
  return errno === undefined ? undefined : CODES[errno];
}

export const isMissing = (error: unknown): boolean =>
  errnoOf(error) === "ENOENT" || (error instanceof FairleadError && error.code === "FILE_NOT_FOUND");

/** Runs a file operation; a failure that we have a code for comes out as that code. */
export async function withFileErrors<T>(doing: string, operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    const code = fileErrorCode(error);
    if (code === undefined || error instanceof FairleadError) throw error;
    const errno = errnoOf(error);
    throw new FairleadError(code, `${doing}: ${errno}`, { errno }, error);
  }
}
