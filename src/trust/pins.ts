/** What an enrollment token pins, so that a new agent knows whom it asks: no trust on first use. */
import { z } from "zod";
import { FairleadError } from "../core/errors.ts";
import { ClusterId } from "../core/ids.ts";
import type { RootSet } from "../core/snapshot/trust-bundle.ts";
import { digestOfJson, sha256Hex } from "./digest.ts";

const Hex = z.string().regex(/^[0-9a-f]{64}$/);

/** `fl1.<cluster>.<CA pin>.<root pin>.<minimum bundle version>.<secret>` */
export const EnrollmentToken = z.strictObject({
  clusterId: ClusterId,
  caPin: Hex,
  rootPin: Hex,
  minBundleVersion: z.int().min(1),
  secret: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
});
export type EnrollmentToken = z.infer<typeof EnrollmentToken>;

export const formatToken = (token: EnrollmentToken): string =>
  ["fl1", token.clusterId, token.caPin, token.rootPin, token.minBundleVersion, token.secret].join(".");

export function parseToken(text: string): EnrollmentToken {
  const [prefix, clusterId, caPin, rootPin, minBundleVersion, secret, ...rest] = text.trim().split(".");
  const parsed = EnrollmentToken.safeParse({
    clusterId,
    caPin,
    rootPin,
    minBundleVersion: /^[1-9][0-9]{0,14}$/.test(minBundleVersion ?? "") ? Number(minBundleVersion) : null,
    secret,
  });
  if (prefix !== "fl1" || rest.length > 0 || !parsed.success) {
    throw new FairleadError(
      "INVALID_INPUT",
      "the enrollment token is not of the form fl1.<cluster>.<pins>.<secret>",
    );
  }
  return parsed.data;
}

/** Over the CA certificate's DER bytes. */
export const caPinOf = (der: Uint8Array): string => sha256Hex(der);

/** Over the root set: keys and threshold. Keys are ordered, so that one set has one pin. */
export function rootPinOf(root: RootSet): string {
  const keys = root.keys.toSorted((a, b) => (a.key_id < b.key_id ? -1 : 1));
  return digestOfJson({ threshold: root.threshold, keys }).slice("sha256:".length);
}
