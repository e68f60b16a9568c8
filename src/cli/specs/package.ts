/** Commands about packages of Fairlead itself. */
import type { CommandSpec } from "./spec.ts";

export const PACKAGE_COMMANDS: readonly CommandSpec[] = [
  {
    path: "package verify",
    about: "compare a folder of packages with its signed list, without a server",
    arguments: [{ name: "<folder>", about: "the folder with SHA256SUMS" }],
    options: [{ flags: "--key <file>", about: "the public key that must have signed the list, in PEM" }],
    examples: [
      "fairlead package verify ./packages --key fairlead-packages.pub",
      "fairlead package verify ./packages --json",
    ],
    load: () => import("../commands/package-verify.ts"),
  },
];
