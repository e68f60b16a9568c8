/** A durable copy that is only kept when it has the digest it should have. */
import type { ErrorCode } from "../../../../core/error-codes.ts";
import { FairleadError } from "../../../../core/errors.ts";
import type { Digest } from "../../../../core/ids.ts";
import { beginDurableWrite } from "../../../../host/durable-write.ts";
import type { EntryStat, FileSystemPort } from "../../../../host/file-system-port.ts";
import { hashOpenFile, openRegular } from "./hash.ts";

export interface CopyOptions {
  /** Undefined: whatever the file holds is what is wanted. */
  readonly expected?: Digest;
  /** The code of a difference from `expected`. */
  readonly otherwise: ErrorCode;
  readonly mode?: number;
  /** The copy belongs to the owner of the original, or to this one. */
  readonly owner?: { readonly uid: number; readonly gid: number };
  readonly fs: FileSystemPort;
  readonly signal: AbortSignal;
}

export async function copyDurable(
  from: string,
  to: string,
  options: CopyOptions,
): Promise<{ readonly sha256: Digest; readonly stat: EntryStat }> {
  const { fs, signal, mode, owner, expected } = options;
  const source = await openRegular(from, fs);
  try {
    const stat = await source.stat();
    const writing = await beginDurableWrite(to, {
      fs,
      soleWriter: true,
      mode: mode ?? stat.mode,
      ...(owner === undefined ? {} : { owner }),
    });
    try {
      const sha256 = await hashOpenFile(source, signal, async (chunk) => writing.write(chunk));
      if (expected !== undefined && sha256 !== expected) {
        throw new FairleadError(options.otherwise, `${from} is ${sha256}, not ${expected}`);
      }
      signal.throwIfAborted();
      await writing.commit();
      return { sha256, stat };
    } finally {
      await writing.abort();
    }
  } finally {
    await source.close();
  }
}
