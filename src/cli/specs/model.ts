/** Commands about what operators declare, and take back. */
import { DEGRADED_ACTIONS, LIFTABLE_KINDS, MODEL_KINDS, REVOCATION_KINDS } from "./choices.ts";
import type { ArgumentSpec, CommandSpec } from "./spec.ts";

const KIND: ArgumentSpec = { name: "<kind>", about: "what it is", choices: MODEL_KINDS };
const NAME: ArgumentSpec = { name: "<name>", about: "its name" };

export const MODEL_COMMANDS: readonly CommandSpec[] = [
  {
    path: "model list",
    about: "what was declared: organizations, policies, secret references, services, storage endpoints",
    remote: true,
    arguments: [KIND],
    examples: ["fairlead model list service"],
    load: () => import("../commands/model-list.ts"),
  },
  {
    path: "model show",
    about: "one of them, as the YAML that makes it again",
    remote: true,
    arguments: [KIND, NAME],
    examples: ["fairlead model show policy night > night.yaml"],
    load: () => import("../commands/model-show.ts"),
  },
  {
    path: "model set",
    about: "make or replace one; nodes that it concerns get new snapshots",
    remote: true,
    arguments: [KIND, NAME],
    options: [
      { flags: "--file <file>", about: "its spec as YAML or JSON" },
      { flags: "--json-body <text>", about: "its spec as JSON on the command line" },
    ],
    examples: [
      "fairlead model set organization acme",
      "fairlead model set policy night --file night.yaml",
      `fairlead model set secret-ref db --json-body '{"organization":"acme","ref":"secret://vault/acme/db"}'`,
    ],
    load: () => import("../commands/model-set.ts"),
  },
  {
    path: "model delete",
    about: "delete one that nothing refers to",
    remote: true,
    arguments: [KIND, NAME],
    examples: ["fairlead model delete service web"],
    load: () => import("../commands/model-delete.ts"),
  },
  {
    path: "revocation add",
    about:
      "take a role, a service, a peer, a storage endpoint, a degraded permission, an artifact or a run back",
    remote: true,
    arguments: [
      { name: "<kind>", about: "what is taken back", choices: LIFTABLE_KINDS },
      {
        name: "<what>",
        about: `a role, a chain profile, a node, a storage endpoint, one of ${DEGRADED_ACTIONS.join(", ")}; of an artifact its fingerprint, of a run its digest, of both a rollout that names it`,
      },
    ],
    options: [
      { flags: "--node <node>", about: "from this node only; every node if left out" },
      { flags: "--reason <text>", about: "why; kept in the timeline" },
    ],
    examples: [
      'fairlead revocation add peer edge-7 --reason "disk stolen"',
      "fairlead revocation add degraded_permission continue_services --node edge-7",
      'fairlead revocation add artifact 0b4f --reason "2.1.0 corrupts its store"',
    ],
    load: () => import("../commands/revocation-add.ts"),
  },
  {
    path: "revocation list",
    about: "what was taken back, newest first; keys and nodes among it",
    remote: true,
    options: [{ flags: "--kind <kind>", about: "only this kind", choices: REVOCATION_KINDS }],
    examples: ["fairlead revocation list"],
    load: () => import("../commands/revocation-list.ts"),
  },
  {
    path: "revocation lift",
    about: "give back what was taken",
    remote: true,
    arguments: [{ name: "<number>", about: "as `fairlead revocation list` shows it" }],
    examples: ["fairlead revocation lift 12"],
    load: () => import("../commands/revocation-lift.ts"),
  },
];
