/** Commands about API keys. */
import { SCOPES_GRANTED } from "./choices.ts";
import type { CommandSpec } from "./spec.ts";

export const API_KEY_COMMANDS: readonly CommandSpec[] = [
  {
    path: "api-key list",
    about: "API keys by name, revoked ones among them; never the keys themselves",
    remote: true,
    examples: ["fairlead api-key list"],
    load: () => import("../commands/api-key-list.ts"),
  },
  {
    path: "api-key create",
    about: "make an API key; it is shown once",
    remote: true,
    arguments: [{ name: "<name>", about: "who will sign in with it; no two keys in use share one" }],
    options: [
      { flags: "--scope <scope>", about: "a scope; again for more", repeat: true, choices: SCOPES_GRANTED },
      { flags: "--out <file>", about: "keep the key in this new file, 0600, instead of printing it" },
    ],
    examples: [
      "fairlead api-key create ann --scope admin --out ./ann.key",
      "fairlead api-key create ci --scope admin | pass insert -m fairlead/ci",
    ],
    load: () => import("../commands/api-key-create.ts"),
  },
  {
    path: "api-key revoke",
    about: "refuse an API key from now on, its tokens and console sessions included",
    remote: true,
    arguments: [{ name: "<key>", about: "the key's name, its id, or the first 4 or more of its id" }],
    options: [
      { flags: "--reason <text>", about: "why; kept in the timeline" },
      { flags: "--force", about: "also when it is the last key with the scope admin" },
    ],
    examples: ['fairlead api-key revoke ann --reason "left the company"'],
    load: () => import("../commands/api-key-revoke.ts"),
  },
];
