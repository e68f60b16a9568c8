/** Secrets that people or nodes carry: made here, shown once, kept as hashes. */
import { randomBytes } from "node:crypto";
import { sha256Hex } from "../../trust/digest.ts";

const SECRET_BYTES = 32;

/** 256 random bits in 43 characters that survive a URL, a shell and a log line. */
export const newSecret = (): string => randomBytes(SECRET_BYTES).toString("base64url");

/** Plain SHA-256 suffices: there is nothing to guess in 256 random bits. */
export const hashSecret = (secret: string): string => sha256Hex(secret);
