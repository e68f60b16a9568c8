/** Commands about machines that join many at once. */
import { NODE_ROLES } from "./choices.ts";
import { NODE } from "./node.ts";
import type { ArgumentSpec, CommandSpec } from "./spec.ts";

const KEY: ArgumentSpec = {
  name: "<key>",
  about: "the key's name, its id, or the first 4 or more of its id",
};

export const ENROLLMENT_COMMANDS: readonly CommandSpec[] = [
  {
    path: "node enroll-key create",
    about: "make one key with which many machines enroll, with this site's pins; it is shown once",
    remote: true,
    arguments: [{ name: "<name>", about: "the key's name, for people" }],
    options: [
      { flags: "--uses <n>", about: "how many machines may enroll with it", required: true },
      {
        flags: "--profile <id>",
        about: "the chain profile of a program; may be given again",
        required: true,
        repeat: true,
      },
      { flags: "--type <type>", about: "the nodes' type", required: true },
      { flags: "--label <key=value>", about: "a label; may be given again", repeat: true },
      { flags: "--role <role>", about: "a role; may be given again", repeat: true, choices: NODE_ROLES },
      {
        flags: "--name-template <text>",
        about: "the nodes' names, of {hostname} and {machine}, 12 characters of the machine's id",
        fallback: "{hostname}",
      },
      {
        flags: "--approve",
        about: "a machine waits for `fairlead node approve`, and has no certificate before",
      },
      { flags: "--expires <duration>", about: "how long the key may be used", fallback: "2h" },
      { flags: "--out <file>", about: "write the key there (0600) and do not print it" },
      { flags: "--reason <text>", about: "why; kept in the events" },
    ],
    examples: [
      "fairlead node enroll-key create rack-7 --uses 50 --expires 2h --profile web --type small --out ./rack-7.key",
      "fairlead node enroll-key create edge --uses 200 --profile edge --type small --name-template 'edge-{machine}' --approve",
    ],
    load: () => import("../commands/enroll-key-create.ts"),
  },
  {
    path: "node enroll-key list",
    about: "enrollment keys, newest first: how often each was used, and until when it may be",
    remote: true,
    examples: ["fairlead node enroll-key list"],
    load: () => import("../commands/enroll-key-list.ts"),
  },
  {
    path: "node enroll-key revoke",
    about: "let no more machines enroll with a key; nodes that did stay",
    remote: true,
    arguments: [KEY],
    options: [{ flags: "--reason <text>", about: "why; kept in the events" }],
    examples: ['fairlead node enroll-key revoke rack-7 --reason "rack is complete"'],
    load: () => import("../commands/enroll-key-revoke.ts"),
  },
  {
    path: "node approve",
    about: "let machines that wait have their certificates",
    remote: true,
    arguments: [{ ...NODE, name: "[node]" }],
    options: [
      { flags: "--all", about: "every machine that waits now" },
      { flags: "--key-id <id>", about: "only when the machine has this key, as its agent prints it" },
      { flags: "--reason <text>", about: "why; kept in the timeline" },
    ],
    examples: ["fairlead node approve web-3", "fairlead node approve --all"],
    load: () => import("../commands/node-approve.ts"),
  },
];
