/** Commands about rollouts. */
import { ROLLOUT_STATUSES } from "./choices.ts";
import type { ArgumentSpec, CommandSpec, OptionSpec } from "./spec.ts";

const ROLLOUT: ArgumentSpec = { name: "<rollout>", about: "the rollout's id, or the first 4 or more of it" };

/** How the program is run, for a rollout that no manifest describes. */
const TYPED_RUN: readonly OptionSpec[] = [
  {
    flags: "--arg <value>",
    about: "without a manifest: an argument of the program; again for more",
    repeat: true,
  },
  {
    flags: "--env <key=value>",
    about: "without a manifest: a variable of the program; again for more",
    repeat: true,
  },
  { flags: "--user <name>", about: "without a manifest: the user that runs the program" },
];

const SIGNING: readonly OptionSpec[] = [
  { flags: "--max-attempts <n>", about: "how often a node may try", fallback: "3" },
  { flags: "--window <duration>", about: "how long the signed intent is valid", fallback: "24h" },
  { flags: "--no-rollback", about: "sign no permission to put the previous version back" },
  { flags: "--release-key <file>", about: "sign with this key (default: the context's)" },
];

const CREATE_OPTIONS: readonly OptionSpec[] = [
  { flags: "--manifest <file>", about: "the upgrade's manifest, as it also lies on the server" },
  { flags: "--profile <id>", about: "without a manifest: the chain profile" },
  { flags: "--binary-name <name>", about: "without a manifest: the program's name" },
  { flags: "--target-version <version>", about: "without a manifest: the version to install" },
  { flags: "--url <url>", about: "without a manifest: where the bytes are" },
  { flags: "--checksum <sha256:hex>", about: "without a manifest: the fingerprint of the bytes" },
  ...TYPED_RUN,
  { flags: "--type <type>", about: "the node type to upgrade", required: true },
  { flags: "--source-version <version>", about: "the version that the nodes run now", required: true },
  { flags: "--node <name>", about: "only this node; again for more (default: all eligible)", repeat: true },
  { flags: "--batch-size <n>", about: "how many nodes at once", fallback: "1" },
  { flags: "--threshold <ratio>", about: "pause when failed/attempted exceeds this, 0 to 1", fallback: "0" },
  { flags: "--health-wait <duration>", about: "how long each batch is observed", fallback: "60s" },
  ...SIGNING,
  { flags: "--no-sign", about: "send no intent; works only where the site does not require one" },
  { flags: "--no-local-checks", about: "leave the creation rules to the server" },
  { flags: "--start", about: "start it at once" },
  { flags: "--reason <text>", about: "why; kept with the start" },
];

const RESUME_OPTIONS: readonly OptionSpec[] = [
  { flags: "--reason <text>", about: "why; kept in the timeline" },
  { flags: "--manifest <file>", about: "sign a new intent for what this manifest says" },
  { flags: "--profile <id>", about: "without a manifest: the chain profile to sign for" },
  { flags: "--checksum <sha256:hex>", about: "without a manifest: the fingerprint to sign for" },
  ...TYPED_RUN,
  ...SIGNING,
];

const signal = (verb: string, about: string, reason: string): CommandSpec => ({
  path: `rollout ${verb}`,
  about,
  remote: true,
  arguments: [ROLLOUT],
  options: [{ flags: "--reason <text>", about: "why; kept in the timeline" }],
  examples: [`fairlead rollout ${verb} 3f2a --reason "${reason}"`],
  load: async () => (await import("../commands/rollout-signal.ts")).signalCommand(verb),
});

export const ROLLOUT_COMMANDS: readonly CommandSpec[] = [
  {
    path: "rollout create",
    about: "plan an upgrade over nodes and sign the intent for it",
    remote: true,
    options: CREATE_OPTIONS,
    examples: [
      "fairlead rollout create --manifest upgrades/validator/v2.yaml --type full --source-version 1.4.0 --batch-size 5 --threshold 0.1 --start",
      "fairlead rollout create --profile edge --binary-name edged --target-version 2.0.0 --url https://dl.example/edged --checksum sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 --type small --source-version 1.9.0 --node edge-7",
    ],
    load: () => import("../commands/rollout-create.ts"),
  },
  signal("start", "begin with the first batch", "window opens"),
  signal("pause", "stop after the batch under way", "looking at val-3"),
  {
    path: "rollout resume",
    about: "go on after a pause; with a manifest or a fingerprint, under a newly signed intent",
    remote: true,
    arguments: [ROLLOUT],
    options: RESUME_OPTIONS,
    examples: [
      'fairlead rollout resume 3f2a --reason "val-3 repaired"',
      "fairlead rollout resume 3f2a --manifest upgrades/validator/v2.yaml --window 12h",
    ],
    load: () => import("../commands/rollout-resume.ts"),
  },
  {
    path: "rollout cancel",
    about: "end it; nodes under way finish, and what was signed for it is called off",
    remote: true,
    arguments: [ROLLOUT],
    options: [
      { flags: "--reason <text>", about: "why; kept in the timeline" },
      {
        flags: "--release-key <file>",
        about: "sign the empty intent with this key (default: the context's)",
      },
      {
        flags: "--no-sign",
        about: "send no empty intent: the first one stays valid until its window closes",
      },
    ],
    examples: ['fairlead rollout cancel 3f2a --reason "wrong build"'],
    load: () => import("../commands/rollout-cancel.ts"),
  },
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
    options: [
      {
        flags: "--for <what>",
        about: "done: its end, through any pause; paused: its end or a pause, whichever is first",
        choices: ["done", "paused"],
        fallback: "done",
      },
      { flags: "--timeout <duration>", about: "give up after this long", fallback: "10m" },
    ],
    examples: ["fairlead rollout wait 3f2a --timeout 30m && echo upgraded"],
    load: () => import("../commands/rollout-wait.ts"),
  },
];
