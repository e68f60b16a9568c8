/** Commands about a site as a whole: its first run, and how this machine reaches it. */
import type { CommandSpec, OptionSpec } from "./spec.ts";

const SERVER: OptionSpec = {
  flags: "--server <url>",
  about: "the operators' address, such as https://fairlead.example:7400",
  required: true,
};
const STORE_AS: OptionSpec = {
  flags: "--context <name>",
  about: "the name to keep this site under",
  fallback: "default",
};

export const SITE_COMMANDS: readonly CommandSpec[] = [
  {
    path: "init",
    about: "make the keys of a new site on this machine and sign its first trust bundle",
    options: [
      SERVER,
      {
        flags: "--first-run-secret-file <file>",
        about: "the secret that the new server wrote into its data folder",
        required: true,
      },
      {
        flags: "--keys-dir <dir>",
        about: "where the private keys go (0600); nothing is overwritten",
        required: true,
      },
      { flags: "--root-keys <n>", about: "how many root keys to make", fallback: "1" },
      { flags: "--root-threshold <k>", about: "how many of them must sign", fallback: "1" },
      { flags: "--valid-days <n>", about: "how long bundle and keys are valid", fallback: "365" },
      { flags: "--demo", about: "mark the bundle demo: agents accept it on loopback only" },
      { flags: "--no-require-intents", about: "weaker mode: the control plane alone decides what runs" },
      STORE_AS,
    ],
    examples: [
      "fairlead init --server http://127.0.0.1:7400 --first-run-secret-file /var/lib/fairlead/first-run-secret --keys-dir ~/fairlead-keys",
      "fairlead init --server https://site-a.example --first-run-secret-file ./secret --keys-dir /media/usb/keys --root-keys 3 --root-threshold 2",
    ],
    load: () => import("../commands/init.ts"),
  },
  {
    path: "login",
    about: "keep a server and an API key as a context; the key comes from a file, stdin or FAIRLEAD_API_KEY",
    options: [
      SERVER,
      { flags: "--api-key-file <file>", about: "read the key from this file" },
      { flags: "--api-key-stdin", about: "read the key from stdin" },
      {
        flags: "--pins <file>",
        about: "the site's pins, as a colleague's `fairlead context show --json` printed them",
      },
      { flags: "--release-key <file>", about: "the release key that this machine signs with" },
      STORE_AS,
    ],
    examples: [
      "fairlead login --server https://site-a.example --api-key-file ./api-key --context site-a",
      "pass show fairlead | fairlead login --server https://site-a.example --api-key-stdin",
    ],
    load: () => import("../commands/login.ts"),
  },
  {
    path: "whoami",
    about: "who the server says you are, and what you may do",
    remote: true,
    examples: ["fairlead whoami"],
    load: () => import("../commands/whoami.ts"),
  },
  {
    path: "console",
    about: "print a link that signs you in to the console, once",
    remote: true,
    examples: ["fairlead console", 'xdg-open "$(fairlead console)"'],
    load: () => import("../commands/console.ts"),
  },
  {
    path: "events",
    about: "everything that happens at the site, live, one line each",
    remote: true,
    options: [
      { flags: "--after <id>", about: "begin after this event (default: from now on)" },
      { flags: "--count <n>", about: "end after so many" },
    ],
    examples: ["fairlead events", "fairlead events --after 0 --count 100 --json"],
    load: () => import("../commands/events.ts"),
  },
  {
    path: "context list",
    about: "the sites this machine knows",
    examples: ["fairlead context list"],
    load: () => import("../commands/context-list.ts"),
  },
  {
    path: "context use",
    about: "make a context the current one",
    arguments: [{ name: "<name>", about: "the context" }],
    options: [{ flags: "--release-key <file>", about: "sign with this release key from now on" }],
    examples: ["fairlead context use site-a", "fairlead context use site-a --release-key ./release-2.pem"],
    load: () => import("../commands/context-use.ts"),
  },
  {
    path: "context show",
    about: "a context without its secrets: server, pins, release key",
    arguments: [{ name: "[name]", about: "the context; the current one if left out" }],
    examples: ["fairlead context show", "fairlead context show site-a --json > site-a-pins.json"],
    load: () => import("../commands/context-show.ts"),
  },
  {
    path: "context remove",
    about: "forget a context with its API key; key files stay",
    arguments: [{ name: "<name>", about: "the context" }],
    examples: ["fairlead context remove site-a"],
    load: () => import("../commands/context-remove.ts"),
  },
];
