/** Signals to a rollout: each takes a reason and a key, and some may bring a newly signed intent. */
import { CALL_OFF, SIGN_AGAIN } from "./signing.ts";
import { SIGNAL_OPTIONS, type ArgumentSpec, type CommandSpec } from "./spec.ts";

export const ROLLOUT: ArgumentSpec = {
  name: "<rollout>",
  about: "the rollout's id, or the first 4 or more of it",
};

const signal = (verb: string, about: string, reason: string): CommandSpec => ({
  path: `rollout ${verb}`,
  about,
  remote: true,
  arguments: [ROLLOUT],
  options: SIGNAL_OPTIONS,
  examples: [`fairlead rollout ${verb} 3f2a --reason "${reason}"`],
  load: async () => (await import("../commands/rollout-signal.ts")).signalCommand(verb),
});

const signed = (
  verb: "resume" | "rollback" | "approve-canary",
  about: string,
  reason: string,
): CommandSpec => ({
  path: `rollout ${verb}`,
  about,
  remote: true,
  arguments: [ROLLOUT],
  options: [...SIGNAL_OPTIONS, ...SIGN_AGAIN],
  examples: [
    `fairlead rollout ${verb} 3f2a --reason "${reason}"`,
    `fairlead rollout ${verb} 3f2a --manifest upgrades/validator/v2.yaml --window 12h`,
  ],
  load: async () => (await import("../commands/rollout-resume.ts")).signedSignalCommand(verb),
});

export const ROLLOUT_STEER_COMMANDS: readonly CommandSpec[] = [
  signal("start", "begin with the first batch", "window opens"),
  signal("pause", "stop after the batch under way", "looking at val-3"),
  signed(
    "resume",
    "go on after a pause; with a manifest or a fingerprint, under a newly signed intent",
    "val-3 repaired",
  ),
  {
    path: "rollout cancel",
    about: "end it; nodes under way finish, and what was signed for it is called off",
    remote: true,
    arguments: [ROLLOUT],
    options: [...SIGNAL_OPTIONS, ...CALL_OFF],
    examples: ['fairlead rollout cancel 3f2a --reason "wrong build"'],
    load: () => import("../commands/rollout-cancel.ts"),
  },
  signal(
    "force",
    "go on whatever fails; over the threshold the rollout ends failed",
    "losing edge-9 is fine",
  ),
  signed("approve-canary", "let a breaking migration go on after its canary", "blocks follow, peers fine"),
  signed("rollback", "put every upgraded node back, the last batch first", "2.0.0 leaks"),
  {
    path: "rollout retry",
    about: "upgrade a failed node again, or with no node named all of them",
    remote: true,
    arguments: [ROLLOUT],
    options: [
      { flags: "--node <name>", about: "only this node (default: every node that failed)" },
      ...SIGNAL_OPTIONS,
      ...SIGN_AGAIN,
    ],
    examples: [
      'fairlead rollout retry 3f2a --reason "disks freed"',
      'fairlead rollout retry 3f2a --node val-3 --reason "disk freed"',
    ],
    load: async () => (await import("../commands/rollout-node-signal.ts")).retry,
  },
  {
    path: "rollout skip",
    about: "leave out a node that has not begun",
    remote: true,
    arguments: [ROLLOUT],
    options: [{ flags: "--node <name>", about: "the node", required: true }, ...SIGNAL_OPTIONS],
    examples: ['fairlead rollout skip 3f2a --node val-7 --reason "being moved"'],
    load: async () => (await import("../commands/rollout-node-signal.ts")).skip,
  },
  {
    path: "rollout give-up",
    about: "fail a node at work that does not answer, or every silent one; a late verdict still settles it",
    remote: true,
    arguments: [ROLLOUT, { name: "[node]", about: "the node, by name or id" }],
    options: [
      { flags: "--all-silent", about: "every node at work without a heartbeat for 30 s" },
      ...SIGNAL_OPTIONS,
    ],
    examples: [
      'fairlead rollout give-up 3f2a val-3 --reason "machine is off"',
      'fairlead rollout give-up 3f2a --all-silent --reason "rack 7 has no power"',
    ],
    load: async () => (await import("../commands/rollout-node-signal.ts")).giveUp,
  },
];
