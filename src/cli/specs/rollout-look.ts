/** Commands that look at rollouts. */
import { ROLLOUT_STATUSES } from "./choices.ts";
import { NODE } from "./node.ts";
import { ROLLOUT } from "./rollout-steer.ts";
import { WAIT_OPTIONS, type CommandSpec } from "./spec.ts";

export const ROLLOUT_LOOK_COMMANDS: readonly CommandSpec[] = [
  {
    path: "rollout list",
    about: "rollouts, newest first",
    remote: true,
    options: [
      { flags: "--status <status>", about: "only this status", choices: ROLLOUT_STATUSES },
      { flags: "--profile <id>", about: "only this chain profile" },
      { flags: "--limit <n>", about: "at most so many", fallback: "50" },
    ],
    examples: ["fairlead rollout list", "fairlead rollout list --status paused --json"],
    load: () => import("../commands/rollout-list.ts"),
  },
  {
    path: "rollout show",
    about: "one rollout: what, where it stands, and why",
    remote: true,
    arguments: [ROLLOUT],
    examples: ["fairlead rollout show 3f2a"],
    load: () => import("../commands/rollout-show.ts"),
  },
  {
    path: "rollout nodes",
    about: "each node's part in a rollout",
    remote: true,
    arguments: [ROLLOUT],
    examples: ["fairlead rollout nodes 3f2a"],
    load: () => import("../commands/rollout-nodes.ts"),
  },
  {
    path: "rollout timeline",
    about: "a node's eight actions in a rollout: what happened, when and why",
    remote: true,
    arguments: [ROLLOUT, NODE],
    examples: ["fairlead rollout timeline 3f2a val-3"],
    load: () => import("../commands/rollout-timeline.ts"),
  },
  {
    path: "rollout watch",
    about: "follow a rollout live until it ends; without a terminal, one line per event",
    remote: true,
    arguments: [ROLLOUT],
    examples: ["fairlead rollout watch 3f2a", "fairlead rollout watch 3f2a --json | jq .kind"],
    load: () => import("../commands/rollout-watch.ts"),
  },
  {
    path: "rollout wait",
    about: "wait until a rollout ends; exit code 0 completed, 1 not, 9 paused, 10 timeout",
    remote: true,
    arguments: [ROLLOUT],
    options: WAIT_OPTIONS,
    examples: ["fairlead rollout wait 3f2a --timeout 30m && echo upgraded"],
    load: () => import("../commands/rollout-wait.ts"),
  },
];
