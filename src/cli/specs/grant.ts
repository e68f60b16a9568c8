/** Commands about people who sign in at the site's OpenID issuer. */
import { SCOPES_GRANTED } from "./choices.ts";
import type { CommandSpec } from "./spec.ts";

export const GRANT_COMMANDS: readonly CommandSpec[] = [
  {
    path: "grant list",
    about: "what people of the OpenID issuer may do, who granted it and when",
    remote: true,
    examples: ["fairlead grant list"],
    load: () => import("../commands/grant-list.ts"),
  },
  {
    path: "grant set",
    about: "set what somebody of the OpenID issuer may do; without --scope, nothing",
    remote: true,
    options: [
      { flags: "--issuer <url>", about: "the issuer, as the server's config names it", required: true },
      { flags: "--subject <sub>", about: "who, as the issuer's tokens say it", required: true },
      { flags: "--scope <scope>", about: "a scope; again for more", repeat: true, choices: SCOPES_GRANTED },
      { flags: "--reason <text>", about: "why; kept in the events" },
    ],
    examples: [
      'fairlead grant set --issuer https://id.example --subject ann --scope admin --reason "on call"',
      "fairlead grant set --issuer https://id.example --subject ann",
    ],
    load: () => import("../commands/grant-set.ts"),
  },
];
