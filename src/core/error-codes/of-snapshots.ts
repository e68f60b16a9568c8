/** Snapshots, heads, keys, and what a node may do without its control plane. */
import { code, type CodeEntry } from "./entry.ts";

export const SNAPSHOT_CODES = {
  // Snapshots: the ordered verification list
  SNAPSHOT_MALFORMED: code(422, "untrusted", "The frame's bytes are damaged: fetch it again."),
  SNAPSHOT_SCHEMA_UNSUPPORTED: code(422, "untrusted", "Upgrade the agent, or the server."),
  SNAPSHOT_WRONG_CLUSTER: code(
    422,
    "untrusted",
    "It belongs to another cluster: look at which server the node speaks to, and at what lies between.",
  ),
  SNAPSHOT_WRONG_NODE: code(
    422,
    "untrusted",
    "It belongs to another node: look at what lies between the node and its control plane.",
  ),
  SNAPSHOT_KEY_UNTRUSTED: code(
    422,
    "untrusted",
    "The signer is unknown, expired or revoked, or not for this scope: see `fairlead keys list`, and publish a trust bundle that names it if it is yours.",
  ),
  SNAPSHOT_SIGNATURE_INVALID: code(
    422,
    "untrusted",
    "The signature does not verify: the node asks again by itself; if it stays, look at who can write to the database and at the signing key.",
  ),
  SNAPSHOT_HASH_MISMATCH: code(
    422,
    "untrusted",
    "The content is not what was signed: the node asks again by itself; if it stays, look at who can write to the database.",
  ),
  SNAPSHOT_TIME_REFUSED: code(
    422,
    "untrusted",
    "Expired, not yet valid, or signed more than 15 minutes ahead: check the clocks of the node and of the control plane; docs/guides/clocks.md says what to do.",
  ),
  SNAPSHOT_EPOCH_STALE: code(
    422,
    "untrusted",
    "An older authority epoch: if the database was restored from a backup, run `fairlead authority new-epoch`.",
  ),
  SNAPSHOT_ROLLBACK: code(
    422,
    "untrusted",
    "An older version than the accepted one: if the database was restored from a backup, run `fairlead authority new-epoch`.",
  ),
  SNAPSHOT_SCOPE_EXCEEDED: code(
    422,
    "untrusted",
    "The content goes beyond the node's roles: correct them with `fairlead node set`, or look at who signed it.",
  ),
  SNAPSHOT_CONTENT_INVALID: code(
    422,
    "untrusted",
    "The content breaks its schema at the named field: correct it there, or upgrade the agent.",
  ),
  SNAPSHOT_SECRET_FOUND: code(
    422,
    "untrusted",
    "The named field holds a raw secret: put the secret into a store, and a secret:// reference in its place.",
  ),

  SNAPSHOT_EPOCH_UNKNOWN: code(
    422,
    "untrusted",
    "An epoch that no root-signed trust bundle opened: run `fairlead authority new-epoch` if it is yours.",
  ),
  SNAPSHOT_ORGANIZATION_FOREIGN: code(
    422,
    "untrusted",
    "The content belongs to an organization that the node is no member of: see `fairlead node set --organizations`.",
  ),
  SNAPSHOT_TOO_LARGE: code(
    422,
    "invalid",
    "The compiled content is over its bound: assign less to the node.",
  ),
  INCREMENT_BASE_MISMATCH: code(
    409,
    "untrusted",
    "The increment is for another version: the node asks for the full snapshot by itself.",
  ),
  INCREMENT_RESULT_MISMATCH: code(
    422,
    "untrusted",
    "The increment does not lead to what was signed: the node asks for the full snapshot by itself.",
  ),
  SNAPSHOT_HELD_BACK: code(
    409,
    "untrusted",
    "A newer version exists and was not handed over: look at what lies between the node and its control plane.",
  ),

  // Heads
  HEAD_REFUSED: code(
    422,
    "untrusted",
    "The head is not signed for this node, or by a key that may not: look at what lies between the node and its control plane, and at `fairlead keys list`.",
  ),
  REVOCATION_PAGE_MISSING: code(
    409,
    "untrusted",
    "The node's head names a page of revocations that the control plane does not deliver, so the node takes no new authority: see the server's log for the page, and what lies between the node and its control plane.",
  ),
  HEAD_STALE: code(
    409,
    "untrusted",
    "The node has no fresh head: restore its connection to the control plane and check both clocks.",
  ),
  HEAD_ROLLBACK: code(
    422,
    "untrusted",
    "An older head than the one held: look at what lies between the node and its control plane; somebody replays it.",
  ),

  // Degraded mode, on the agent
  DEGRADED_FORBIDDEN: code(409, "denied", "Never done without the control plane: restore the connection."),
  DEGRADED_NOT_ALLOWED: code(
    409,
    "denied",
    "The node's degraded_mode_policy does not allow it: change the policy while it is connected.",
  ),
  DEGRADED_TIME_OVER: code(
    409,
    "denied",
    "The bound of the degraded_mode_policy or of its snapshot has passed: restore the connection.",
  ),
  AUTHORITY_REVOKED: code(
    409,
    "denied",
    "It was revoked: see `fairlead revocation list`, and for one node `fairlead snapshot explain`.",
  ),

  // Keys
  KEY_NOT_CONFIRMED: code(
    409,
    "conflict",
    "Wait until the named nodes have confirmed it; after the deadline leave them behind with --abandon NODE.",
  ),
  KEY_STATE: code(409, "conflict", "The key's state does not allow this: see `fairlead keys list`."),
  ROOT_SIGNATURES_MISSING: code(
    422,
    "untrusted",
    "Collect more root signatures with `fairlead root sign FILE`, then `fairlead root publish FILE`.",
  ),
} as const satisfies Record<string, CodeEntry>;
