/** Commands about groups of rollouts. */
import { GROUP_STATUSES } from "./choices.ts";
import { CALL_OFF, SIGNING } from "./signing.ts";
import {
  SIGNAL_OPTIONS,
  WAIT_OPTIONS,
  type ArgumentSpec,
  type CommandSpec,
  type OptionSpec,
} from "./spec.ts";

const GROUP: ArgumentSpec = { name: "<group>", about: "the group's id, or the first 4 or more of it" };

const GROUP_CREATE_OPTIONS: readonly OptionSpec[] = [
  { flags: "--file <file>", about: "the group: its policy, desired versions and components", required: true },
  {
    flags: "--config-dir <dir>",
    about:
      "your copy of the server's config folder, with upgrades/ and templates/ (default: the file's folder)",
  },
  ...SIGNING,
  { flags: "--no-sign", about: "send no intents; works only where the site does not require them" },
  { flags: "--no-local-checks", about: "leave the creation rules to the server" },
  { flags: "--start", about: "start it at once" },
  { flags: "--reason <text>", about: "why; kept with the start" },
];

const signal = (
  verb: "start" | "pause" | "resume" | "rollback" | "skip",
  about: string,
  reason: string,
): CommandSpec => ({
  path: `group ${verb}`,
  about,
  remote: true,
  arguments: [GROUP],
  options: SIGNAL_OPTIONS,
  examples: [`fairlead group ${verb} 3f2a --reason "${reason}"`],
  load: async () => (await import("../commands/group-signal.ts")).groupSignalCommand(verb),
});

export const GROUP_COMMANDS: readonly CommandSpec[] = [
  {
    path: "group create",
    about: "plan the upgrades of several components, in order, and sign an intent for each",
    remote: true,
    options: GROUP_CREATE_OPTIONS,
    examples: [
      "fairlead group create --file group.yaml --start",
      "fairlead group create --file groups/2026-q1.yaml --config-dir . --window 12h",
    ],
    load: () => import("../commands/group-create.ts"),
  },
  signal("start", "begin with the first component", "window opens"),
  signal("pause", "stop the component under way after its batch", "looking at val-3"),
  signal("resume", "go on after a pause, with the component that paused", "val-3 repaired"),
  {
    path: "group cancel",
    about:
      "end it: nodes under way finish, later components never begin, what was signed for them is called off",
    remote: true,
    arguments: [GROUP],
    options: [...SIGNAL_OPTIONS, ...CALL_OFF],
    examples: ['fairlead group cancel 3f2a --reason "wrong build"'],
    load: () => import("../commands/group-cancel.ts"),
  },
  signal("rollback", "put every component back, the last one first", "2.0.0 leaks"),
  signal("skip", "leave a failed component behind and go on with the next", "the cache can wait"),
  {
    path: "group list",
    about: "groups, newest first",
    remote: true,
    options: [
      { flags: "--status <status>", about: "only this status", choices: GROUP_STATUSES },
      { flags: "--profile <id>", about: "only this chain profile" },
      { flags: "--limit <n>", about: "at most so many", fallback: "50" },
    ],
    examples: ["fairlead group list", "fairlead group list --status paused --json"],
    load: () => import("../commands/group-list.ts"),
  },
  {
    path: "group show",
    about: "one group: its components in order, the gate between them, and why it stands where it does",
    remote: true,
    arguments: [GROUP],
    examples: ["fairlead group show 3f2a"],
    load: () => import("../commands/group-show.ts"),
  },
  {
    path: "group watch",
    about: "follow a group live until it ends; without a terminal, one line per change",
    remote: true,
    arguments: [GROUP],
    examples: ["fairlead group watch 3f2a"],
    load: () => import("../commands/group-watch.ts"),
  },
  {
    path: "group wait",
    about: "wait until a group ends; exit code 0 completed, 1 not, 9 paused, 10 timeout",
    remote: true,
    arguments: [GROUP],
    options: WAIT_OPTIONS,
    examples: ["fairlead group wait 3f2a --for paused --timeout 2h"],
    load: () => import("../commands/group-wait.ts"),
  },
];
