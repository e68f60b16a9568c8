/** Commands about nodes. */
import { NODE_ROLES } from "./choices.ts";
import type { ArgumentSpec, CommandSpec } from "./spec.ts";

export const NODE: ArgumentSpec = {
  name: "<node>",
  about: "the node's name, its id, or the first 4 or more of its id",
};

export const NODE_COMMANDS: readonly CommandSpec[] = [
  {
    path: "node token",
    about: "make a single-use enrollment token for a new node, with this site's pins",
    remote: true,
    options: [
      { flags: "--name <name>", about: "the node's name", required: true },
      {
        flags: "--profile <id>",
        about: "the chain profile of a program; may be given again",
        required: true,
        repeat: true,
      },
      { flags: "--type <type>", about: "the node's type", required: true },
      { flags: "--label <key=value>", about: "a label; may be given again", repeat: true },
      { flags: "--role <role>", about: "a role; may be given again", repeat: true, choices: NODE_ROLES },
      { flags: "--expires <duration>", about: "how long the token may be used", fallback: "24h" },
      { flags: "--out <file>", about: "write the token there (0600) and do not print it" },
      { flags: "--reason <text>", about: "why; kept in the events" },
    ],
    examples: [
      "fairlead node token --name val-1 --profile validator --type full --out ./val-1.token",
      "fairlead node token --name eth-1 --profile execution --profile consensus --type full --out ./eth-1.token",
      "fairlead node token --name edge-7 --profile edge --type small --label zone=eu-1 --role thin --expires 1h",
    ],
    load: () => import("../commands/node-token.ts"),
  },
  {
    path: "node list",
    about: "the nodes of the site",
    remote: true,
    options: [
      { flags: "--profile <id>", about: "only this chain profile" },
      { flags: "--type <type>", about: "only this node type" },
      { flags: "--version <version>", about: "only nodes at this version of the program" },
    ],
    examples: ["fairlead node list", "fairlead node list --profile validator --version 1.4.0 --json"],
    load: () => import("../commands/node-list.ts"),
  },
  {
    path: "node show",
    about: "one node: programs, applied versions, and what it last refused and why",
    remote: true,
    arguments: [NODE],
    examples: ["fairlead node show val-1"],
    load: () => import("../commands/node-show.ts"),
  },
  {
    path: "node timeline",
    about: "the eight actions of a node's upgrades, the newest first: what happened, when and why",
    remote: true,
    arguments: [NODE],
    options: [{ flags: "--limit <n>", about: "at most so many attempts", fallback: "3" }],
    examples: ["fairlead node timeline val-3"],
    load: () => import("../commands/node-timeline.ts"),
  },
  {
    path: "node set",
    about: "set a node's roles, organizations and peer address; what is not named stays",
    remote: true,
    arguments: [NODE],
    options: [
      { flags: "--roles <roles>", about: `with commas, of ${NODE_ROLES.join(", ")}` },
      { flags: "--organizations <names>", about: "with commas; an empty text takes it out of all" },
      { flags: "--peer-address <host:port>", about: "where its peers reach it; none takes it away" },
    ],
    examples: [
      "fairlead node set edge-7 --roles ingress,thin --organizations acme --peer-address edge-7.example:7000",
    ],
    load: () => import("../commands/node-set.ts"),
  },
  {
    path: "node profile",
    about:
      "add a program to a node, or take one out of control; each program is upgraded and judged on its own",
    remote: true,
    arguments: [
      { name: "<action>", about: "add or remove", choices: ["add", "remove"] },
      NODE,
      { name: "<profile>", about: "the chain profile of the program" },
    ],
    options: [{ flags: "--reason <text>", about: "why; kept in the timeline" }],
    examples: [
      "fairlead node profile add eth-1 consensus",
      'fairlead node profile remove eth-1 consensus --reason "moved to eth-2"',
    ],
    load: () => import("../commands/node-profile.ts"),
  },
  {
    path: "node adopt",
    about: "record what a node runs after a person mended it by hand",
    remote: true,
    arguments: [NODE],
    options: [
      { flags: "--reason <text>", about: "why; kept in the timeline", required: true },
      { flags: "--profile <id>", about: "of which program, where the node has several" },
      { flags: "--version <version>", about: "its version, where the site has never rolled these bytes out" },
    ],
    examples: [
      'fairlead node adopt val-1 --reason "restored by hand after the disk failed"',
      'fairlead node adopt val-1 --version 1.4.1-hotfix --reason "vendor hotfix installed by hand"',
    ],
    load: () => import("../commands/node-adopt.ts"),
  },
  {
    path: "node revoke",
    about: "close a node's connections and refuse it from now on",
    remote: true,
    arguments: [NODE],
    options: [{ flags: "--reason <text>", about: "why; kept in the timeline" }],
    examples: ['fairlead node revoke val-1 --reason "disk stolen"'],
    load: () => import("../commands/node-revoke.ts"),
  },
];
