/** Commands about upgrade manifests. */
import type { CommandSpec } from "./spec.ts";
import { TEMPLATES } from "./signing.ts";

export const MANIFEST_COMMANDS: readonly CommandSpec[] = [
  {
    path: "manifest list",
    about: "the manifests in the server's config folder",
    remote: true,
    options: [{ flags: "--profile <id>", about: "only this chain profile" }],
    examples: ["fairlead manifest list", "fairlead manifest list --profile validator --json"],
    load: () => import("../commands/manifest-list.ts"),
  },
  {
    path: "manifest show",
    about: "one manifest, as it lies on the server",
    remote: true,
    arguments: [
      { name: "<profile>", about: "the chain profile" },
      { name: "<upgrade>", about: "the upgrade's id: its file without .yaml" },
    ],
    examples: ["fairlead manifest show validator v2", "fairlead manifest show validator v2 --json"],
    load: () => import("../commands/manifest-show.ts"),
  },
  {
    path: "manifest check",
    about: "look for mistakes in a manifest and its templates, without a server",
    arguments: [{ name: "<file>", about: "the manifest" }],
    options: [TEMPLATES],
    examples: [
      "fairlead manifest check upgrades/validator/v2.yaml",
      "fairlead manifest check v2.yaml --templates ./templates --json",
    ],
    load: () => import("../commands/manifest-check.ts"),
  },
  {
    path: "manifest schema",
    about: "print the JSON Schema of manifests, for editors",
    examples: ["fairlead manifest schema > upgrade-manifest.json"],
    load: () => import("../commands/manifest-schema.ts"),
  },
];
