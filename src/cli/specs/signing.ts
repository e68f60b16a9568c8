/** What commands take that sign an intent. */
import type { OptionSpec } from "./spec.ts";

/** How the program is run, for a rollout that no manifest describes. */
export const TYPED_RUN: readonly OptionSpec[] = [
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

export const TEMPLATES: OptionSpec = {
  flags: "--templates <dir>",
  about: "the manifest's templates (default: templates/ in the config folder that it lies in)",
};

export const SIGNING: readonly OptionSpec[] = [
  { flags: "--max-attempts <n>", about: "how often a node may try", fallback: "3" },
  { flags: "--window <duration>", about: "how long the signed intent is valid", fallback: "24h" },
  { flags: "--no-rollback", about: "sign no permission to put the previous version back" },
  { flags: "--release-key <file>", about: "sign with this key (default: the context's)" },
];

/** For a signal that begins work again after the window of the first intent has closed. */
export const SIGN_AGAIN: readonly OptionSpec[] = [
  { flags: "--manifest <file>", about: "sign a new intent for what this manifest says" },
  TEMPLATES,
  { flags: "--profile <id>", about: "without a manifest: the chain profile to sign for" },
  { flags: "--checksum <sha256:hex>", about: "without a manifest: the fingerprint to sign for" },
  ...TYPED_RUN,
  ...SIGNING,
];

/** Of a cancel. */
export const CALL_OFF: readonly OptionSpec[] = [
  {
    flags: "--release-key <file>",
    about: "sign the empty intent with this key (default: the context's)",
  },
  {
    flags: "--sign",
    about: "insist on the signature; also for what was cancelled before without one",
  },
  {
    flags: "--no-sign",
    about: "send no empty intent: the first one stays valid until its window closes",
  },
];
