/** Requests of operators, the rules for what they create, trust and identity. */
import { code, type CodeEntry } from "./entry.ts";

export const REQUEST_CODES = {
  // The command line
  USAGE: code(400, "usage", "Look at the command's --help."),
  FILE_NOT_FOUND: code(404, "notFound", "Check the path: this machine has no such file or folder.", {
    server: "Check the path; a file of the site that is gone is in a backup made with keys.",
    node: "Check the path on the node: it is in the agent's config, or in the manifest.",
  }),

  // Requests
  INVALID_INPUT: code(400, "invalid", "Correct the named field and send the request again.", {
    server: "Correct the named option or file, and start again.",
    node: "Correct the agent's config or its token at the named place, and start the agent again.",
  }),
  NOT_FOUND: code(404, "notFound", "Check the id; list what exists with the matching list command.", {
    console: "It may have been removed, or the address is wrong: go back to the list.",
    node: "The named thing does not exist on the node: check the name in the agent's config, and the machine.",
  }),
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
  REVOCATIONS_FULL: code(
    409,
    "conflict",
    "Lift revocations that are no longer needed, or revoke the node itself: that is never refused.",
  ),
  TOO_MANY_REQUESTS: code(429, "failed", "Wait for the time named in Retry-After and try again.", {
    console: "Wait a minute and try again.",
    node: "Nothing: the agent waits and tries again by itself.",
  }),
  PAYLOAD_TOO_LARGE: code(413, "invalid", "Send less at once.", {
    server: "The named file is larger than it may be: use another one.",
    node: "The named file or answer is larger than it may be: check that it is the right one.",
  }),
  INTERNAL: code(500, "failed", "Look into the server's log for the request id.", {
    console: "Reload the page. If it stays, look into the server's log for the request id.",
    server: "This is a fault of the server: see its log, start it again, and report the message if it stays.",
    node: "This is a fault of the agent: see its log, restart it, and report the message if it stays.",
  }),
  SITE_KEYS_MISSING: code(
    503,
    "failed",
    "Copy the named files, mode 0600, from the keys folder of a running replica or from a backup made with keys.",
  ),
  SITE_BACKUP_DAMAGED: code(422, "untrusted", "Use another backup: of this one nothing was restored."),
  SITE_BACKUP_UNTRUSTED: code(
    422,
    "untrusted",
    "Name the site by --passphrase-file, --keys-dir with its site-ca.json, or --ca-pin from `fairlead context show`; a backup of another site is not restored.",
  ),
  SITE_BACKUP_LEVEL: code(
    409,
    "conflict",
    "Restore with the version of Fairlead that wrote the backup, then upgrade.",
  ),
  DATA_DIR_IN_USE: code(
    409,
    "conflict",
    "Stop the server that uses the folder, or give this one a folder of its own with --data-dir.",
  ),
  ADDRESS_UNAVAILABLE: code(
    409,
    "conflict",
    "Stop what listens there, or choose another address with the named flag.",
  ),
  SITE_NOT_EMPTY: code(409, "conflict", "Restore into an empty database and an empty data folder."),
  SITE_PASSPHRASE_WRONG: code(403, "denied", "Give the passphrase that the backup was written with."),
  NOT_READY: code(503, "unreachable", "The server is starting or lost a part it needs: see /readyz.", {
    console:
      "The server is starting or lost a part it needs: wait a moment, and look at /readyz if it stays.",
    server: "The message names what is in the way: end it, or wait for it, and start again.",
    node: "The message names what is in the way on the node, or the control plane is not ready: try again then.",
  }),
  CLOCK_DISAGREES: code(
    503,
    "unreachable",
    "The clocks of the control plane differ by more than a minute, and nothing is signed: correct the wrong one, or say `fairlead authority confirm-time` when the server's is right. See docs/guides/clocks.md.",
  ),
  UNREACHABLE: code(503, "unreachable", "Check the address and that the server runs.", {
    console: "Check that the server runs and that this browser reaches it.",
    server:
      "Check the address that the message names, and that what it names runs and can be reached from here.",
    node: "Check the network between the node and the named address; for a container engine, that it runs.",
  }),
  TIMEOUT: code(504, "timeout", "Look at the current state; wait longer with --timeout.", {
    console: "Look at the current state, and try again.",
    server:
      "The named part took longer than it may: see its log and the load of the machine, and start again.",
    node: "The named part took longer than it may: see the node's log and its load, then retry.",
  }),

  // Sign-in
  UNAUTHENTICATED: code(401, "denied", "Sign in with `fairlead login`.", {
    console: "Sign in with a new link: run `fairlead console` where you are signed in.",
  }),
  TOKEN_INVALID: code(401, "denied", "Sign in again with `fairlead login`.", {
    console: "Sign in with a new link: run `fairlead console` where you are signed in.",
    node: "Make a new enrollment token with `fairlead node token`, and put it in the place of the old one.",
  }),
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
  CONFIG_SECRET_FOUND: code(
    422,
    "invalid",
    "Keep the secret in a store and write its secret:// reference, or ${NAME} of the program's environment, at the named line.",
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
  NO_ELIGIBLE_NODES: code(
    422,
    "invalid",
    "No active node has this profile, node type and source version: see `fairlead node list`.",
  ),

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
  ALREADY_INITIALIZED: code(
    409,
    "conflict",
    "This cluster has a trust bundle already: sign in with the keys that made it, or start a new site in an empty folder.",
  ),
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
} as const satisfies Record<string, CodeEntry>;
