/** Commands about rollouts. */
import { ROLLOUT_LOOK_COMMANDS } from "./rollout-look.ts";
import { ROLLOUT_STEER_COMMANDS } from "./rollout-steer.ts";
import { RUNTIMES, STRATEGIES } from "./choices.ts";
import { SIGNING, TEMPLATES, TYPED_RUN } from "./signing.ts";
import type { CommandSpec, OptionSpec } from "./spec.ts";

const CREATE_OPTIONS: readonly OptionSpec[] = [
  { flags: "--manifest <file>", about: "the upgrade's manifest, as it also lies on the server" },
  TEMPLATES,
  { flags: "--profile <id>", about: "without a manifest: the chain profile" },
  {
    flags: "--runtime <runtime>",
    about: "without a manifest: what runs the program",
    choices: RUNTIMES,
  },
  { flags: "--binary-name <name>", about: "without a manifest: the program's name" },
  { flags: "--target-version <version>", about: "without a manifest: the version to install" },
  { flags: "--url <url>", about: "without a manifest: where the bytes are" },
  { flags: "--checksum <sha256:hex>", about: "without a manifest: the fingerprint of the bytes" },
  ...TYPED_RUN,
  { flags: "--type <type>", about: "the node type to upgrade", required: true },
  { flags: "--source-version <version>", about: "the version that the nodes run now", required: true },
  { flags: "--node <name>", about: "only this node; again for more (default: all eligible)", repeat: true },
  { flags: "--label <key=value>", about: "only nodes with this label; again for more", repeat: true },
  {
    flags: "--strategy <strategy>",
    about: "batch by batch, a few canaries first, or all at once",
    choices: STRATEGIES,
    fallback: "rolling",
  },
  { flags: "--batch-size <n>", about: "how many nodes at once", fallback: "1" },
  {
    flags: "--canary-size <n>",
    about: "with --strategy canary: how many random nodes go first (default: 1)",
  },
  {
    flags: "--max-unavailable <label=n>",
    about: "no more than n nodes of one value of the label away at once, such as zone=1",
  },
  { flags: "--threshold <ratio>", about: "pause when failed/attempted exceeds this, 0 to 1", fallback: "0" },
  { flags: "--force-continue", about: "go on whatever fails; over the threshold it ends failed" },
  { flags: "--health-wait <duration>", about: "how long each batch is observed", fallback: "60s" },
  {
    flags: "--skip-validation",
    about: "with --strategy all_at_once: installed is enough, health is not awaited",
  },
  {
    flags: "--acknowledge-state-risk",
    about: "for a breaking migration: the previous version may not read the state it finds",
  },
  ...SIGNING,
  { flags: "--no-sign", about: "send no intent; works only where the site does not require one" },
  { flags: "--no-local-checks", about: "leave the creation rules to the server" },
  { flags: "--start", about: "start it at once" },
  { flags: "--reason <text>", about: "why; kept with the start" },
];

export const ROLLOUT_COMMANDS: readonly CommandSpec[] = [
  {
    path: "rollout create",
    about: "plan an upgrade over nodes and sign the intent for it",
    remote: true,
    options: CREATE_OPTIONS,
    examples: [
      "fairlead rollout create --manifest upgrades/validator/v2.yaml --type full --source-version 1.4.0 --batch-size 5 --threshold 0.1 --start",
      "fairlead rollout create --manifest upgrades/validator/v3.yaml --type full --source-version 2.0.0 --strategy canary --canary-size 2 --batch-size 10 --label tier=test --max-unavailable zone=1 --acknowledge-state-risk",
      "fairlead rollout create --profile edge --binary-name edged --target-version 2.0.0 --url https://dl.example/edged --checksum sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 --type small --source-version 1.9.0 --node edge-7",
    ],
    load: () => import("../commands/rollout-create.ts"),
  },
  ...ROLLOUT_STEER_COMMANDS,
  ...ROLLOUT_LOOK_COMMANDS,
];
