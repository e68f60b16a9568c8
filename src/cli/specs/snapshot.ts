/** Commands about signed snapshots: what nodes hold, what it allows them, and what they refused. */
import { SCOPES } from "./choices.ts";
import type { ArgumentSpec, CommandSpec } from "./spec.ts";

const NODE: ArgumentSpec = {
  name: "<node>",
  about: "the node's name, its id, or the first 4 or more of its id",
};
const SCOPE: ArgumentSpec = { name: "<scope>", about: "which part of its authority", choices: SCOPES };

export const SNAPSHOT_COMMANDS: readonly CommandSpec[] = [
  {
    path: "snapshot list",
    about: "the fleet's snapshots, one line a node; with a node, one line a scope",
    remote: true,
    arguments: [{ ...NODE, name: "[node]" }],
    options: [
      { flags: "--attention", about: "only nodes with snapshots that are behind, rejected or expiring" },
    ],
    examples: [
      "fairlead snapshot list",
      "fairlead snapshot list --attention",
      "fairlead snapshot list edge-7",
    ],
    load: () => import("../commands/snapshot-list.ts"),
  },
  {
    path: "snapshot explain",
    about:
      "what a node may do and until when, in words; for a rejected snapshot the check, the field and what to do",
    remote: true,
    arguments: [NODE],
    examples: ["fairlead snapshot explain edge-7"],
    load: () => import("../commands/snapshot-explain.ts"),
  },
  {
    path: "snapshot show",
    about: "one snapshot: header and content, or its signed bytes",
    remote: true,
    arguments: [NODE, SCOPE],
    options: [
      { flags: "--version <n>", about: "an earlier version, as far as it is kept" },
      { flags: "--frame", about: "the signed bytes, as the node gets them; needs --out" },
      { flags: "--out <file>", about: "write them there" },
    ],
    examples: [
      "fairlead snapshot show edge-7 route_policy",
      "fairlead snapshot show edge-7 trust_bundle --frame --out bundle.frame",
    ],
    load: () => import("../commands/snapshot-show.ts"),
  },
  {
    path: "snapshot diff",
    about: "what changed from one version to another; with --json as RFC 6902 operations",
    remote: true,
    arguments: [NODE, SCOPE],
    options: [
      { flags: "--from <n>", about: "the earlier version (default: the one before --to)" },
      { flags: "--to <n>", about: "the later version (default: the newest)" },
    ],
    examples: [
      "fairlead snapshot diff edge-7 route_policy",
      "fairlead snapshot diff edge-7 node_runtime --from 3 --to 5",
    ],
    load: () => import("../commands/snapshot-diff.ts"),
  },
  {
    path: "snapshot verify",
    about: "run the twelve checks of a node on a file, offline; exit code 8 when one refuses it",
    arguments: [{ name: "<file>", about: "a snapshot's signed bytes" }],
    options: [
      { flags: "--bundle <file>", about: "the trust bundle to believe, as signed bytes", required: true },
      { flags: "--node <id>", about: "the node whose place is taken", required: true },
      { flags: "--cluster <id>", about: "the node's cluster (default: the bundle's)" },
      { flags: "--roles <roles>", about: "the node's roles, with commas (default: those in the header)" },
      {
        flags: "--organizations <ids>",
        about: "ids of its organizations, with commas (default: those in the header)",
      },
      { flags: "--at <time>", about: "the time of the node's clock (default: now)" },
    ],
    examples: [
      "fairlead snapshot verify route.frame --bundle bundle.frame --node 6f3c0f9e-6a52-4a1e-9a55-0d7a4f0a8b11",
      "fairlead snapshot verify route.frame --bundle bundle.frame --node 6f3c0f9e-6a52-4a1e-9a55-0d7a4f0a8b11 --at 2026-01-31T12:00:00Z",
    ],
    load: () => import("../commands/snapshot-verify.ts"),
  },
];
