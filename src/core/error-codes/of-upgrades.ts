/** On the node: commands, the eight actions, and health after them. */
import { code, type CodeEntry } from "./entry.ts";

export const UPGRADE_CODES = {
  // Commands and activation, on the agent
  COMMAND_MALFORMED: code(
    422,
    "untrusted",
    "The command's bytes are damaged: look at what lies between the node and its control plane; `rollout retry` sends a new one.",
  ),
  COMMAND_UNTRUSTED: code(
    422,
    "untrusted",
    "The command's signature does not verify with an online key: see `fairlead keys list`, and look at who can write to the database.",
  ),
  COMMAND_REPLAYED: code(
    409,
    "untrusted",
    "The node has seen this command or a later one: nothing was done. After a restore of the database open a new epoch with `fairlead authority new-epoch`, then retry; if it stays, revoke the node and enroll it again.",
  ),
  COMMAND_EXPIRED: code(422, "untrusted", "The command came too late: the control plane sends a new one."),
  COMMAND_AHEAD: code(
    422,
    "untrusted",
    "The command is signed more than 15 minutes ahead of the node's clock: correct the clock that is wrong, the node's or the control plane's, then `rollout retry`.",
  ),
  COMMAND_WRONG_NODE: code(
    422,
    "untrusted",
    "The command is for another node or cluster: look at which server the node speaks to, and at what lies between.",
  ),
  COMMAND_INTENT_MISSING: code(
    422,
    "untrusted",
    "No signed intent came with the command: sign one with `fairlead rollout create` where the release key is.",
  ),
  INTENT_WRONG_NODE: code(
    422,
    "untrusted",
    "The intent does not name this node: create and sign a rollout that does.",
  ),
  INTENT_SERIAL_OLD: code(
    422,
    "untrusted",
    "A newer intent was seen for this profile: create and sign the rollout anew.",
  ),
  INTENT_NOT_YET: code(
    422,
    "untrusted",
    "The intent's window has not begun: wait for it, or check the node's clock.",
  ),
  ATTEMPT_REFUSED: code(
    422,
    "untrusted",
    "This attempt ran already, or exceeds max_attempts: sign a new intent, with more attempts if need be.",
  ),
  ASSIGNMENT_MISSING: code(
    422,
    "untrusted",
    "No valid service_assignment covers this command: see `fairlead snapshot explain` for why the node has none.",
  ),
  ASSIGNMENT_EXPIRED: code(
    422,
    "untrusted",
    "The service_assignment has expired: `rollout retry` brings a new one.",
  ),
  ASSIGNMENT_MISMATCH: code(
    422,
    "untrusted",
    "Assignment, intent and command do not agree: nothing was done; retry, and if it stays, look at who can write to the database.",
  ),
  CURRENT_MISMATCH: code(
    409,
    "conflict",
    "The node runs something else than the assignment names as current: see who changed it by hand; put back what is recorded, or record what runs with `fairlead node adopt`, then retry.",
  ),
  ROLLBACK_REFUSED: code(
    422,
    "untrusted",
    "Only the recorded previous fingerprint may come back: to reach another version, sign a rollout of it.",
  ),
  PROFILE_UNKNOWN: code(
    422,
    "invalid",
    "The agent's config names no program for this profile: add it there, or enroll the node under another profile.",
  ),
  NOTHING_TO_ROLL_BACK: code(
    409,
    "conflict",
    "No node runs what this rollout brought: roll back the rollout that did, see `fairlead rollout list`.",
  ),
  ADOPT_REFUSED: code(
    409,
    "conflict",
    "Only a node that answers, runs its program and has no upgrade under way is adopted: see `fairlead node show`, mend what the message names, then adopt it again.",
  ),
  NODE_STEP_FAILED: code(
    500,
    "failed",
    "The control plane could not sign, store or record this node's upgrade; the others went on. The message names the cause: mend it, then `rollout retry`.",
  ),
  NODE_SILENT: code(
    504,
    "timeout",
    "The node sent no heartbeat for `node_silence_max` during its upgrade: look at the machine and at its connection, then `rollout retry`. Should its verdict still come, it settles the node.",
  ),
  GIVEN_UP: code(
    504,
    "timeout",
    "An operator gave the node up while it was at work: look at what it runs, then `rollout retry`. Should its verdict still come, it settles the node.",
  ),
  RUN_SPEC_MISMATCH: code(
    422,
    "untrusted",
    "argv, env or user differ from what was signed: sign the rollout with what is to run.",
  ),

  // Upgrade on the node
  ORIGIN_NOT_ALLOWED: code(
    403,
    "untrusted",
    "List the origin under artifact_origins, or the image's repository under image_repositories, in the agent's config.",
  ),
  ARTIFACT_UNREACHABLE: code(502, "unreachable", "Check that the artifact's address answers from the node."),
  ARTIFACT_DIGEST_MISMATCH: code(
    422,
    "untrusted",
    "The bytes are not the signed ones: put the signed file back at its address and retry, or sign a rollout of what is there.",
  ),
  ARTIFACT_TOO_LARGE: code(
    413,
    "invalid",
    "The artifact exceeds the configured bound: raise it in the agent's config, or publish a smaller one.",
  ),
  CONFIG_DIGEST_MISMATCH: code(
    422,
    "untrusted",
    "The config's bytes are not the signed ones: retry, and if it stays, look at who can write to the database.",
  ),
  PATH_REFUSED: code(
    422,
    "invalid",
    "The path leaves its folder, is a link, or holds a forbidden character: correct it in the manifest, or replace the link on the node.",
  ),
  ACTION_TIMEOUT: code(504, "timeout", "The action took too long: see the node's log."),
  ACTION_FAILED: code(500, "failed", "See the message and the node's log."),
  DEADLINE_PASSED: code(
    504,
    "timeout",
    "The upgrade took longer than its 10 minutes: see which action took them in `fairlead rollout timeline`, and retry.",
  ),
  BACKUP_CORRUPT: code(500, "failed", "The backup does not verify: restore the node by hand."),
  COMPENSATION_FAILED: code(
    500,
    "failed",
    "The node needs a person: its program is held as it is; see the node's log.",
  ),
  DISK_FULL: code(507, "failed", "Free space on the disk that the message names, and try again.", {
    node: "Free space on the node and retry.",
  }),
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
  AGENT_STOP_KILLS: code(
    500,
    "failed",
    "Let the agent run as root, so that it can start programs in scopes of their own, or set KillMode=process in its unit.",
  ),
  PROGRAM_NOT_RUNNING: code(500, "failed", "The program exited at once: see its log on the node."),

  // Health
  HEALTH_NO_HEARTBEAT: code(504, "failed", "No heartbeat came after the start: look at the node."),
  HEALTH_CRITICAL: code(500, "failed", "The program's probe failed: see its log."),
  HEALTH_STALLED: code(500, "failed", "The program stopped syncing: see its log."),
  HEALTH_NODE_DOWN: code(
    500,
    "failed",
    "The node is down or failed: look at the machine and at its connection, then retry.",
  ),
  HEALTH_CRASH_LOOP: code(500, "failed", "The program restarts again and again: see its log."),
  HEALTH_WRONG_FINGERPRINT: code(
    500,
    "failed",
    "The running program is not the target's: see who starts another one in its place, then retry.",
  ),
} as const satisfies Record<string, CodeEntry>;
