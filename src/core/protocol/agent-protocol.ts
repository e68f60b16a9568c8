/**
 * The protocol between agent and server, as it grows (ADR 30).
 *
 * 1. A reader of an unsigned message ignores a key that it does not know. A new optional key needs nothing else.
 * 2. Everything else that an older reader refuses has a capability: a new form of a signed frame, a new value of an
 *    enum, a new kind of command. The server sends it only to an agent whose poll names the capability.
 * 3. The number rises when a capability is no longer optional. An agent whose poll has no number speaks 1.
 */
import { z } from "zod";
import { LineText } from "../text.ts";

export const PROTOCOL = 2;

export const Protocol = z.int().min(1).max(1_000_000);

/** The agent reads heads that revoke artifacts and runs; one that does not say so gets heads without them. */
export const REVOKES_BYTES = "revokes_bytes";

/** Capabilities of this build of the agent, beyond its protocol's number. */
export const CAPABILITIES: readonly string[] = [REVOKES_BYTES];

const CAPABILITIES_MAX = 64;
/** A newer agent may name some that this server does not know. */
export const Capabilities = z.array(LineText(64).min(1)).max(CAPABILITIES_MAX);
