/** Commands about signing keys, the root's signatures and epochs. */
import { KEY_AUTHORITIES } from "./choices.ts";
import type { ArgumentSpec, CommandSpec, OptionSpec } from "./spec.ts";

const KEY: ArgumentSpec = {
  name: "<key>",
  about: "the key's name, its id, or the first 4 or more of its id",
};
const FILE: ArgumentSpec = { name: "<file>", about: "the trust bundle, as another command wrote it" };

const ABANDON: OptionSpec = {
  flags: "--abandon <node>",
  about: "leave this node behind; again for more",
  repeat: true,
};
const DEADLINE: OptionSpec = {
  flags: "--deadline <duration>",
  about: "after this long, nodes that did not confirm may be left behind",
  fallback: "7d",
};
const THRESHOLD: OptionSpec = {
  flags: "--threshold <k>",
  about: "for a root key: how many of the new set must sign from then on",
};

const SIGNED: readonly OptionSpec[] = [
  {
    flags: "--root-key <file>",
    about: "sign with this root key; again for more (default: root-*.pem beside the context's release key)",
    repeat: true,
  },
  { flags: "--valid-days <n>", about: "how long the bundle and a new key are valid", fallback: "365" },
  {
    flags: "--out <file>",
    about: "where the bundle goes when root signatures are missing (default: trust-bundle-N.bundle)",
  },
];

export const KEY_COMMANDS: readonly CommandSpec[] = [
  {
    path: "keys list",
    about: "every signing key: its state, who has confirmed it, what is next",
    remote: true,
    examples: [
      "fairlead keys list",
      "fairlead keys list --json | jq '.keys[] | select(.state == \"retiring\")'",
    ],
    load: () => import("../commands/keys-list.ts"),
  },
  {
    path: "keys generate",
    about: "make a key pair here: the private half in FILE (0600), the public half in FILE.pub",
    options: [
      { flags: "--out <file>", about: "where the private half goes; nothing is overwritten", required: true },
    ],
    examples: ["fairlead keys generate --out ~/fairlead-keys/release-2.pem"],
    load: () => import("../commands/keys-generate.ts"),
  },
  {
    path: "keys introduce",
    about: "name a new key in the trust bundle, signed by the root keys; an online key is made by the server",
    remote: true,
    options: [
      { flags: "--authority <kind>", about: "what it will sign", required: true, choices: KEY_AUTHORITIES },
      { flags: "--name <name>", about: "what people call it" },
      { flags: "--public-key <file>", about: "its public half, for all but online keys" },
      { flags: "--profiles <list>", about: "the only profiles it may sign for, with commas (default: all)" },
      {
        flags: "--algorithm <name>",
        about: "how an RSA key signs (default: RSA-PSS)",
        choices: ["RS256", "RSA-PSS"],
      },
      THRESHOLD,
      ...SIGNED,
    ],
    examples: [
      "fairlead keys introduce --authority online --name online-2027",
      "fairlead keys introduce --authority release --name alice --public-key ./alice.pem.pub --profiles validator,edge",
      "fairlead keys introduce --authority release --name hsm --public-key ./hsm-rsa.pub --algorithm RS256",
    ],
    load: () => import("../commands/keys-introduce.ts"),
  },
  {
    path: "keys promote",
    about: "sign with an introduced online key from now on; refused until every node has confirmed it",
    remote: true,
    arguments: [KEY],
    options: [ABANDON, DEADLINE],
    examples: [
      "fairlead keys promote online-2027",
      "fairlead keys promote 3f2a91 --abandon val-9 --deadline 2d",
    ],
    load: () => import("../commands/keys-promote.ts"),
  },
  {
    path: "keys retire",
    about: "take a key out of the trust bundle; refused while a node needs it",
    remote: true,
    arguments: [KEY],
    options: [ABANDON, DEADLINE, THRESHOLD, ...SIGNED],
    examples: ["fairlead keys retire 9b01", "fairlead keys retire 9b01 --abandon val-9"],
    load: () => import("../commands/keys-retire.ts"),
  },
  {
    path: "keys revoke",
    about: "refuse a stolen key everywhere, at once and for good; the only online key is replaced with it",
    remote: true,
    arguments: [KEY],
    options: [
      { flags: "--reason <text>", about: "why; kept in the timeline", required: true },
      THRESHOLD,
      ...SIGNED,
    ],
    examples: ['fairlead keys revoke 9b01 --reason "backup disk stolen"'],
    load: () => import("../commands/keys-revoke.ts"),
  },
  {
    path: "root sign",
    about: "say what a trust bundle changes, then add a root signature to its file; works offline",
    remote: true,
    arguments: [FILE],
    options: [
      {
        flags: "--key <file>",
        about:
          "sign with this root key; again for more (default: root-*.pem beside the context's release key)",
        repeat: true,
      },
      { flags: "--out <file>", about: "write the signed bundle there (default: in place)" },
      { flags: "--yes", about: "ask nobody" },
    ],
    examples: ["fairlead root sign ./trust-bundle-4.bundle --key /media/usb/root-2.pem"],
    load: () => import("../commands/root-sign.ts"),
  },
  {
    path: "root renew",
    about: "sign the same trust bundle again with a new end; nodes believe none that has expired",
    remote: true,
    options: [...SIGNED],
    examples: ["fairlead root renew --valid-days 365"],
    load: () => import("../commands/root-renew.ts"),
  },
  {
    path: "root publish",
    about: "upload a trust bundle that enough root keys have signed",
    remote: true,
    arguments: [FILE],
    options: [ABANDON, { flags: "--reason <text>", about: "why; kept in the timeline" }],
    examples: ["fairlead root publish ./trust-bundle-4.bundle"],
    load: () => import("../commands/root-publish.ts"),
  },
  {
    path: "authority new-epoch",
    about: "begin a new epoch after a restored database: versions begin anew, signed by the root keys",
    remote: true,
    options: [
      {
        flags: "--reason <reason>",
        about: "why",
        required: true,
        choices: ["database_restored", "versions_exhausted", "key_compromised"],
      },
      { flags: "--note <text>", about: "more about why; kept in the timeline" },
      ...SIGNED,
    ],
    examples: ["fairlead authority new-epoch --reason database_restored"],
    load: () => import("../commands/authority-new-epoch.ts"),
  },
  {
    path: "authority reset-time",
    about: "lower every node's floor of time to this machine's clock: a new epoch, signed by the root keys",
    remote: true,
    options: [{ flags: "--reason <text>", about: "why; kept in the timeline", required: true }, ...SIGNED],
    examples: ['fairlead authority reset-time --reason "the control plane was 12 hours ahead"'],
    load: () => import("../commands/authority-reset-time.ts"),
  },
  {
    path: "authority confirm-time",
    about: "say that the control plane's clock is right, so that it signs again after CLOCK_DISAGREES",
    remote: true,
    options: [
      { flags: "--reason <text>", about: "why; kept in the timeline", required: true },
      { flags: "--time <instant>", about: "the true time, RFC 3339 in UTC (default: this machine's clock)" },
    ],
    examples: [
      'fairlead authority confirm-time --reason "the host was suspended; NTP is in sync"',
      'fairlead authority confirm-time --time 2026-11-18T12:00:00.000Z --reason "no NTP here; checked by hand"',
    ],
    load: () => import("../commands/authority-confirm-time.ts"),
  },
];
