/** The strings that a snapshot's content may hold (SNAP-5): each has a type, and free text is the exception. */
import { z } from "zod";

/** A pointer to a secret that a resolver on the node's side knows how to open; never the secret. */
export const SecretRef = z
  .string()
  .max(300)
  .regex(/^secret:\/\/[a-z0-9][a-z0-9-]*(?:\/[A-Za-z0-9][A-Za-z0-9._-]*)+$/, "not a secret:// reference");
export type SecretRef = z.infer<typeof SecretRef>;

/** `kind:name`, such as `resource:db-main` or `vpn_connection:branch-7`. */
export const ResourceRef = z
  .string()
  .max(200)
  .regex(/^[a-z][a-z0-9_]*:[A-Za-z0-9][A-Za-z0-9._-]*$/, "not a kind:name reference");

/** No user, no password, no query: an address is no place for a secret. */
export const EndpointUrl = z
  .string()
  .max(300)
  .regex(/^https:\/\/[A-Za-z0-9.-]+(?::\d{1,5})?(?:\/[A-Za-z0-9._/-]*)?$/, "not a plain https address");

export const HostPort = z
  .string()
  .max(270)
  .regex(/^(?:[A-Za-z0-9.-]+|\[[0-9a-f:]+\]):\d{1,5}$/, "not host:port");

export const Cidr = z.union([z.cidrv4(), z.cidrv6()]);

/** For people only: nothing acts on it, and it is scanned for secrets before it is signed. */
export const FreeText = z.string().max(200);
