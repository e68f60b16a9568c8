import { promisify } from "node:util";
import { constants, zstdCompress } from "node:zlib";

const compress = promisify(zstdCompress);

/**
 * Level 9 with long matches: 34 MB of an agent in 2.5 s. Level 15 takes eight times as long for 2 % less. One thread: the
 * bytes do not depend on the machine.
 */
export const zstd = (content: Uint8Array): Promise<Buffer> =>
  compress(content, {
    params: {
      [constants.ZSTD_c_compressionLevel]: 9,
      [constants.ZSTD_c_enableLongDistanceMatching]: 1,
      [constants.ZSTD_c_checksumFlag]: 1,
    },
  });
