/** Every command of the CLI. */
import { API_KEY_COMMANDS } from "./api-key.ts";
import { ENROLLMENT_COMMANDS } from "./enrollment.ts";
import { GRANT_COMMANDS } from "./grant.ts";
import { GROUP_COMMANDS } from "./group.ts";
import { INCIDENT_COMMANDS, WEBHOOK_COMMANDS } from "./incident.ts";
import { MANIFEST_COMMANDS } from "./manifest.ts";
import { MODEL_COMMANDS } from "./model.ts";
import { KEY_COMMANDS } from "./keys.ts";
import { NODE_COMMANDS } from "./node.ts";
import { PACKAGE_COMMANDS } from "./package.ts";
import { ROLLOUT_COMMANDS } from "./rollout.ts";
import { SITE_COMMANDS } from "./site.ts";
import { SNAPSHOT_COMMANDS } from "./snapshot.ts";
import type { CommandSpec, SubjectSpec } from "./spec.ts";

const COMPLETION: CommandSpec = {
  path: "completion",
  about: "print a completion script for a shell",
  arguments: [{ name: "<shell>", about: "the shell", choices: ["bash", "zsh", "fish"] }],
  examples: [
    "source <(fairlead completion bash)",
    "fairlead completion fish > ~/.config/fish/completions/fairlead.fish",
  ],
  load: () => import("../commands/completion.ts"),
};

const VERSION: CommandSpec = {
  path: "version",
  about: "print the version",
  examples: ["fairlead version"],
  load: () => import("../commands/version.ts"),
};

export const COMMANDS: readonly CommandSpec[] = [
  ...SITE_COMMANDS,
  ...API_KEY_COMMANDS,
  ...GRANT_COMMANDS,
  ...NODE_COMMANDS,
  ...ENROLLMENT_COMMANDS,
  ...MODEL_COMMANDS,
  ...SNAPSHOT_COMMANDS,
  ...MANIFEST_COMMANDS,
  ...ROLLOUT_COMMANDS,
  ...GROUP_COMMANDS,
  ...INCIDENT_COMMANDS,
  ...WEBHOOK_COMMANDS,
  ...KEY_COMMANDS,
  ...PACKAGE_COMMANDS,
  COMPLETION,
  VERSION,
];

export const SUBJECTS: readonly SubjectSpec[] = [
  { name: "context", about: "the sites this machine knows" },
  { name: "api-key", about: "what people and scripts sign in with" },
  { name: "grant", about: "what people of the OpenID issuer may do" },
  { name: "node", about: "machines with an agent" },
  { name: "node enroll-key", about: "one secret with which many machines enroll" },
  { name: "model", about: "what snapshots are compiled from: organizations, policies, services, storage" },
  { name: "revocation", about: "authority that was taken back" },
  { name: "snapshot", about: "what nodes may do, signed" },
  { name: "manifest", about: "upgrades as files: what they install, and how" },
  { name: "rollout", about: "upgrades over nodes, batch by batch" },
  { name: "group", about: "rollouts of several components, one after the other" },
  { name: "incident", about: "what a person must look at" },
  { name: "webhook", about: "who is told over HTTP" },
  { name: "keys", about: "keys that sign: their way in, and out" },
  { name: "root", about: "trust bundles, signed by the root keys" },
  { name: "authority", about: "the epoch in which versions count" },
  { name: "package", about: "packages of Fairlead itself" },
];

/** Programs of their own: bin/fairlead.mjs starts them before the CLI is loaded. */
export const PROGRAMS: readonly SubjectSpec[] = [
  { name: "server", about: "run the control plane (fairlead server --embedded --data-dir DIR)" },
  { name: "backup", about: "write a site into one file (fairlead backup --data-dir DIR --out FILE)" },
  { name: "restore", about: "bring a site back from it (fairlead restore FILE --data-dir DIR)" },
  { name: "agent", about: "run a node's agent (fairlead agent --config agent.yaml)" },
];
