/** Commands about incidents and about who is told of things. */
import { INCIDENT_CATEGORIES, INCIDENT_STATUSES, NOTIFICATIONS } from "./choices.ts";
import type { ArgumentSpec, CommandSpec } from "./spec.ts";

const INCIDENT: ArgumentSpec = {
  name: "<incident>",
  about: "the incident's id, or the first 4 or more of it",
};
const WEBHOOK: ArgumentSpec = {
  name: "<webhook>",
  about: "the webhook's name, its id, or the first 4 or more of its id",
};

const step = (verb: "acknowledge" | "resolve", about: string, note: string): CommandSpec => ({
  path: `incident ${verb}`,
  about,
  remote: true,
  arguments: [INCIDENT],
  options: [{ flags: "--note <text>", about: "kept with the incident" }],
  examples: [`fairlead incident ${verb} 7c1e --note "${note}"`],
  load: async () => (await import("../commands/incident-step.ts")).incidentCommand(verb),
});

export const INCIDENT_COMMANDS: readonly CommandSpec[] = [
  {
    path: "incident list",
    about: "what a person must look at, newest first",
    remote: true,
    options: [
      { flags: "--status <status>", about: "only this status", choices: INCIDENT_STATUSES },
      { flags: "--category <category>", about: "only this category", choices: INCIDENT_CATEGORIES },
      { flags: "--rollout <rollout>", about: "only of this rollout" },
      { flags: "--node <node>", about: "only of this node" },
      { flags: "--limit <n>", about: "at most so many", fallback: "50" },
    ],
    examples: ["fairlead incident list --status open", "fairlead incident list --node val-3 --json"],
    load: () => import("../commands/incident-list.ts"),
  },
  {
    path: "incident show",
    about: "one incident, with its details and its recovery plan",
    remote: true,
    arguments: [INCIDENT],
    examples: ["fairlead incident show 7c1e"],
    load: () => import("../commands/incident-show.ts"),
  },
  step("acknowledge", "say that you look at it", "on my way to the machine"),
  step("resolve", "say that it is mended", "restored from the backup of Monday"),
];

const hook = (verb: "enable" | "disable", about: string): CommandSpec => ({
  path: `webhook ${verb}`,
  about,
  remote: true,
  arguments: [WEBHOOK],
  examples: [`fairlead webhook ${verb} on-call`],
  load: async () => (await import("../commands/webhook-step.ts")).webhookCommand(verb),
});

export const WEBHOOK_COMMANDS: readonly CommandSpec[] = [
  {
    path: "webhook list",
    about: "who is told of rollouts and incidents over HTTP",
    remote: true,
    examples: ["fairlead webhook list"],
    load: () => import("../commands/webhook-list.ts"),
  },
  {
    path: "webhook add",
    about: "tell an address; its signing secret is shown once",
    remote: true,
    arguments: [{ name: "<name>", about: "what people call it" }],
    options: [
      { flags: "--url <url>", about: "where to, https", required: true },
      {
        flags: "--event <event>",
        about: "only this event; again for more (default: all)",
        repeat: true,
        choices: NOTIFICATIONS,
      },
      { flags: "--out <file>", about: "write the secret there (0600) and do not print it" },
    ],
    examples: [
      "fairlead webhook add on-call --url https://hooks.example/fairlead --event incident_opened --out ./on-call.secret",
    ],
    load: () => import("../commands/webhook-add.ts"),
  },
  {
    path: "webhook show",
    about: "one webhook; its secret is not shown again",
    remote: true,
    arguments: [WEBHOOK],
    examples: ["fairlead webhook show on-call"],
    load: () => import("../commands/webhook-show.ts"),
  },
  {
    path: "webhook remove",
    about: "forget a webhook, its secret and its deliveries",
    remote: true,
    arguments: [WEBHOOK],
    examples: ["fairlead webhook remove on-call"],
    load: () => import("../commands/webhook-remove.ts"),
  },
  hook("enable", "send to it again"),
  hook("disable", "send nothing to it for now"),
  {
    path: "webhook test",
    about: "send a test to it",
    remote: true,
    arguments: [WEBHOOK],
    examples: ["fairlead webhook test on-call"],
    load: () => import("../commands/webhook-test.ts"),
  },
  {
    path: "webhook deliveries",
    about: "what was sent to it, newest first, and what was answered",
    remote: true,
    arguments: [WEBHOOK],
    options: [{ flags: "--limit <n>", about: "at most so many", fallback: "50" }],
    examples: ["fairlead webhook deliveries on-call"],
    load: () => import("../commands/webhook-deliveries.ts"),
  },
  {
    path: "webhook redeliver",
    about: "send one delivery again",
    remote: true,
    arguments: [WEBHOOK, { name: "<delivery>", about: "the delivery's id" }],
    examples: ["fairlead webhook redeliver on-call 0b9a1c70-1111-4222-8333-444455556666"],
    load: () => import("../commands/webhook-redeliver.ts"),
  },
];
