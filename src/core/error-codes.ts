/**
 * The one list of the product's error codes.
 *
 * 1. HTTP status, CLI exit code and the error page of the docs derive from this list.
 * 2. Every code says what to do next.
 */

/** Exit codes of the CLI. Scripts depend on them: append, never renumber. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  invalid: 3,
  conflict: 4,
  notFound: 5,
  denied: 6,
  unreachable: 7,
  untrusted: 8,
  paused: 9,
  timeout: 10,
} as const;
export type ExitName = keyof typeof EXIT;

interface CodeEntry {
  readonly http: number;
  readonly exit: ExitName;
  readonly next: string;
}

const code = (http: number, exit: ExitName, next: string): CodeEntry => ({ http, exit, next });

export const ERROR_CODES = {
  // The command line
  USAGE: code(400, "usage", "Look at the command's --help."),

  // Requests
  INVALID_INPUT: code(400, "invalid", "Correct the named field and send the request again."),
  NOT_FOUND: code(404, "notFound", "Check the id; list what exists with the matching list command."),
  STATE_MOVED: code(
    409,
    "conflict",
    "Somebody else changed it first: read the current state and decide again.",
  ),
  ILLEGAL_TRANSITION: code(
    409,
    "conflict",
    "The current state does not allow this: look at the state and its reason.",
  ),
  CANARY_NOT_APPROVED: code(
    409,
    "conflict",
    "Look at the canary nodes, then `fairlead rollout approve-canary`, or cancel or roll back.",
  ),
  GROUP_MEMBER: code(
    409,
    "conflict",
    "Its group drives it: give the signal to the group, named in detail.group_id.",
  ),
  MODEL_IN_USE: code(409, "conflict", "Change or delete what refers to it first: the message names it."),
  TOO_MANY_REQUESTS: code(429, "failed", "Wait for the time named in Retry-After and try again."),
  PAYLOAD_TOO_LARGE: code(413, "invalid", "Send less at once."),
  INTERNAL: code(500, "failed", "Look into the server's log for the request id."),
  SITE_KEYS_MISSING: code(
    503,
    "failed",
    "Copy the named files, mode 0600, from the keys folder of a running replica or from a backup made with keys.",
  ),
  SITE_BACKUP_DAMAGED: code(422, "untrusted", "Use another backup: of this one nothing was restored."),
  SITE_BACKUP_LEVEL: code(
    409,
    "conflict",
    "Restore with the version of Fairlead that wrote the backup, then upgrade.",
  ),
  SITE_NOT_EMPTY: code(409, "conflict", "Restore into an empty database and an empty data folder."),
  SITE_PASSPHRASE_WRONG: code(403, "denied", "Give the passphrase that the backup was written with."),
  NOT_READY: code(503, "unreachable", "The server is starting or lost a part it needs: see /readyz."),
  UNREACHABLE: code(503, "unreachable", "Check the address and that the server runs."),
  TIMEOUT: code(504, "timeout", "Look at the current state; wait longer with --timeout."),

  // Sign-in
  UNAUTHENTICATED: code(401, "denied", "Sign in with `fairlead login`."),
  TOKEN_INVALID: code(401, "denied", "Sign in again with `fairlead login`."),
  FORBIDDEN: code(403, "denied", "Ask an administrator for the scope; it is granted on the server only."),
  ORIGIN_REFUSED: code(403, "denied", "Open the console from the server's own address."),
  LAST_ADMIN_KEY: code(
    409,
    "conflict",
    "Make another key with the scope admin first; force leaves only administrators of the OpenID issuer.",
  ),

  // Creation rules of a rollout
  CHECKSUM_REQUIRED: code(422, "invalid", "Rule 1: give the artifact's sha256 checksum."),
  CHECKSUM_NOT_SHA256: code(422, "invalid", "Rule 2: a container image's checksum starts with sha256:."),
  IMAGE_NOT_PINNED: code(422, "invalid", "Rule 3: name the image by digest (@sha256:…), not by tag."),
  VERSION_UNCHANGED: code(
    422,
    "invalid",
    "Rule 4: the target version must differ from the source version, unless only config files change.",
  ),
  ROLLOUT_ACTIVE: code(409, "conflict", "Rule 5: finish or cancel the profile's active rollout first."),
  MANIFEST_HASH_MISMATCH: code(
    422,
    "invalid",
    "Rule 6: the manifest on the server differs from yours; compare both.",
  ),
  BREAKING_UNSAFE: code(
    422,
    "invalid",
    "Rule 7: a breaking migration needs a recovery_plan, the canary strategy and acknowledge_state_risk.",
  ),
  MANIFEST_INVALID: code(422, "invalid", "Correct the manifest at the named place."),
  MANIFEST_NOT_FOUND: code(
    404,
    "notFound",
    "Put the manifest under upgrades/{chain_profile_id}/{upgrade_id}.yaml.",
  ),
  TEMPLATE_INVALID: code(
    422,
    "invalid",
    "Correct the template at the named place: unknown variables, filters and tags are refused.",
  ),
  TEMPLATE_NOT_FOUND: code(422, "invalid", "Put the template under templates/ in the config folder."),
  CONFIG_MODE_UNSAFE: code(
    422,
    "invalid",
    "A config file with a secret:// reference is 0600: say so, or leave its mode out.",
  ),
  CONFIGS_DIFFER: code(
    422,
    "untrusted",
    "The server rendered other config files than you: compare templates/ and the nodes' labels.",
  ),
  GROUP_ORDER_INVALID: code(
    422,
    "invalid",
    "Rule 8: number the components 0, 1, 2 … in the order in which they stand.",
  ),
  GROUP_POLICY_REQUIRED: code(
    422,
    "invalid",
    "Rule 9: say failure_policy: partial_ok, rollback_all or manual.",
  ),
  GROUP_VERSIONS_REQUIRED: code(422, "invalid", "Rule 9: say desired_versions, a version per binary."),
  GROUP_ORDER_INCOMPLETE: code(
    422,
    "invalid",
    "Rule 9: each entry of desired_versions needs a component that leads to that version, and no other.",
  ),
  NO_ELIGIBLE_NODES: code(422, "invalid", "No active node has this profile, node type and source version."),

  // Trust
  INTENT_REQUIRED: code(422, "untrusted", "Sign an intent with a release key; the CLI does it by itself."),
  INTENT_MISMATCH: code(
    422,
    "untrusted",
    "The intent was signed for something else: create and sign it anew.",
  ),
  INTENT_EXPIRED: code(422, "untrusted", "The intent's window is closed: sign a new intent."),
  INTENT_UNTRUSTED: code(422, "untrusted", "Sign with a release key that the trust bundle names."),
  BUNDLE_REFUSED: code(422, "untrusted", "The trust bundle breaks a rule: see the message."),
  ALREADY_INITIALIZED: code(409, "conflict", "This cluster has a trust bundle already."),
  NOT_INITIALIZED: code(409, "conflict", "Run `fairlead init` first."),
  FIRST_RUN_SECRET_WRONG: code(403, "denied", "Use the secret in the server's first-run file."),

  // Identity
  ENROLLMENT_REFUSED: code(403, "denied", "Make a new enrollment token with `fairlead node token`."),
  CERTIFICATE_REFUSED: code(
    403,
    "denied",
    "The node's certificate is unknown, expired or revoked: enroll again.",
  ),
  NODE_REVOKED: code(403, "denied", "This node was revoked: enroll it again under a new token."),
  PIN_MISMATCH: code(502, "untrusted", "The server is not the one the token names: do not go on."),

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
    "Expired or not yet valid: check the clocks of the node and of the control plane.",
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
  HEAD_REFUSED: code(422, "untrusted", "The head is not signed for this node, or by a key that may not."),
  HEAD_STALE: code(
    409,
    "untrusted",
    "The node has no fresh head: restore its connection to the control plane and check both clocks.",
  ),
  HEAD_ROLLBACK: code(422, "untrusted", "An older head than the one held: somebody replays it."),

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
  AUTHORITY_REVOKED: code(409, "denied", "It was revoked for this node: see `fairlead snapshot explain`."),

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

  // Commands and activation, on the agent
  COMMAND_MALFORMED: code(422, "untrusted", "The command's bytes are damaged."),
  COMMAND_UNTRUSTED: code(422, "untrusted", "The command's signature does not verify with an online key."),
  COMMAND_REPLAYED: code(409, "untrusted", "An old command came again: nothing was done."),
  COMMAND_EXPIRED: code(422, "untrusted", "The command came too late: the control plane sends a new one."),
  COMMAND_WRONG_NODE: code(422, "untrusted", "The command is for another node or cluster."),
  COMMAND_INTENT_MISSING: code(422, "untrusted", "No signed intent came with the command."),
  INTENT_WRONG_NODE: code(422, "untrusted", "The intent does not name this node."),
  INTENT_SERIAL_OLD: code(422, "untrusted", "A newer intent was seen for this profile."),
  INTENT_NOT_YET: code(422, "untrusted", "The intent's window has not begun."),
  ATTEMPT_REFUSED: code(422, "untrusted", "This attempt ran already, or exceeds max_attempts."),
  ASSIGNMENT_MISSING: code(422, "untrusted", "No valid service_assignment covers this command."),
  ASSIGNMENT_EXPIRED: code(422, "untrusted", "The service_assignment has expired."),
  ASSIGNMENT_MISMATCH: code(422, "untrusted", "Assignment, intent and command do not agree."),
  CURRENT_MISMATCH: code(
    409,
    "conflict",
    "The node runs something else than the assignment names as current.",
  ),
  ROLLBACK_REFUSED: code(422, "untrusted", "Only the recorded previous fingerprint may come back."),
  PROFILE_UNKNOWN: code(422, "invalid", "The agent's config names no program for this profile."),
  RUN_SPEC_MISMATCH: code(422, "untrusted", "argv, env or user differ from what was signed."),

  // Upgrade on the node
  ORIGIN_NOT_ALLOWED: code(
    403,
    "untrusted",
    "List the origin under artifact_origins, or the image's repository under image_repositories, in the agent's config.",
  ),
  ARTIFACT_UNREACHABLE: code(502, "unreachable", "Check that the artifact's address answers from the node."),
  ARTIFACT_DIGEST_MISMATCH: code(422, "untrusted", "The bytes are not the signed ones."),
  ARTIFACT_TOO_LARGE: code(413, "invalid", "The artifact exceeds the configured bound."),
  CONFIG_DIGEST_MISMATCH: code(422, "untrusted", "The config's bytes are not the signed ones."),
  PATH_REFUSED: code(
    422,
    "invalid",
    "The path leaves its folder, is a link, or holds a forbidden character.",
  ),
  ACTION_TIMEOUT: code(504, "timeout", "The action took too long: see the node's log."),
  ACTION_FAILED: code(500, "failed", "See the message and the node's log."),
  DEADLINE_PASSED: code(504, "timeout", "The upgrade took longer than its 10 minutes."),
  BACKUP_CORRUPT: code(500, "failed", "The backup does not verify: restore the node by hand."),
  COMPENSATION_FAILED: code(
    500,
    "failed",
    "The node needs a person: its program is held as it is; see the node's log.",
  ),
  DISK_FULL: code(507, "failed", "Free space on the node and retry."),
  RUNTIME_UNRESPONSIVE: code(
    504,
    "timeout",
    "The node's runtime (systemd, the container engine) did not answer in time: look at it on the node.",
  ),
  UNIT_DIFFERS: code(
    422,
    "invalid",
    "Make `run.args` in the agent's config the arguments that the unit's ExecStart gives, variables written out.",
  ),
  PROGRAM_NOT_RUNNING: code(500, "failed", "The program exited at once: see its log on the node."),

  // Health
  HEALTH_NO_HEARTBEAT: code(504, "failed", "No heartbeat came after the start: look at the node."),
  HEALTH_CRITICAL: code(500, "failed", "The program's probe failed: see its log."),
  HEALTH_STALLED: code(500, "failed", "The program stopped syncing: see its log."),
  HEALTH_NODE_DOWN: code(500, "failed", "The node is down or failed."),
  HEALTH_CRASH_LOOP: code(500, "failed", "The program restarts again and again: see its log."),
  HEALTH_WRONG_FINGERPRINT: code(500, "failed", "The running program is not the target's."),
} as const satisfies Record<string, CodeEntry>;

export type ErrorCode = keyof typeof ERROR_CODES;
