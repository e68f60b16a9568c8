/** A node, for people. */
import { startedAloneText } from "../core/degraded/started-alone-text.ts";
import { nextOf } from "../core/errors.ts";
import { CLAIMED_HEALTH, judgedText, worstHealth, type ClaimedHealth } from "../core/health/claim.ts";
import { COPIED_REMEDY } from "../core/incident/copied-identity.ts";
import type { NodeProfileView, NodeView, ProgramView } from "../core/protocol/operator-api.ts";
import { ageOf } from "./duration.ts";
import { fields, table } from "./output.ts";

export function nodeTable(nodes: readonly NodeView[], now: number): string {
  if (nodes.length === 0) return "";
  return table(
    ["NAME", "ID", "STATE", "PROFILE", "TYPE", "VERSION", "HEALTH", "SEEN"],
    nodes.map((node) => [
      node.name,
      node.id.slice(0, 8),
      stateOf(node),
      node.profiles.map(({ chain_profile_id }) => chain_profile_id).join(", "),
      node.node_type,
      node.profiles.map(({ binary_version }) => binary_version ?? "-").join(", "),
      healthOf(node, now),
      seenAt(node, now),
    ]),
  );
}

export function nodeText(node: NodeView, now: number): string {
  const applied = Object.entries(node.applied).map(
    ([scope, at]) => `${scope} ${at.version} (epoch ${at.epoch})`,
  );
  const labels = Object.entries(node.labels).map(([key, value]) => `${key}=${value}`);
  const parts = [
    fields([
      ["name", node.name],
      ["id", node.id],
      ["state", stateOf(node)],
      ["type", node.node_type],
      ...node.profiles.map((profile) => profileLine(profile, node.contact)),
      ["roles", node.roles.join(", ")],
      ["labels", labels.length === 0 ? null : labels.join(", ")],
      ["seen", seenAt(node, now)],
      ["agent", node.agent_version],
      ["certificate", node.certificate_expires_at === null ? null : `until ${node.certificate_expires_at}`],
      ["revoked", node.revoked_at],
      ["replaces", node.replaces === null ? null : `${node.replaces} (revoked)`],
      ["replaced by", node.replaced_by],
      ["applied", applied.length === 0 ? "nothing yet" : applied.join(", ")],
    ]),
    ...pendingText(node),
    ...copiesText(node, now),
    ...node.programs.map(
      (program) => `program ${program.chain_profile_id}\n${indent(programText(program, now))}`,
    ),
    ...rejectionText(node),
  ];
  return parts.join("\n\n");
}

/** One line for each program: a node may have several. */
const profileLine = (profile: NodeProfileView, contact: NodeView["contact"]): [string, string] => [
  "profile",
  `${profile.chain_profile_id}, version ${profile.binary_version ?? "-"}, ${judgedText(profile.state, contact)}`,
];

function pendingText({ name, pending }: NodeView): string[] {
  if (pending === null) return [];
  const { host, address, key_id, enrollment_key, since } = pending;
  const lines = [
    `${host} at ${address} asked with enrollment key ${enrollment_key} at ${since}`,
    `its key is ${key_id}; its agent prints the same`,
    `what to do: fairlead node approve ${name}, or fairlead node revoke ${name}`,
  ];
  return [`WAITS FOR AN APPROVAL\n${indent(lines.join("\n"))}`];
}

function copiesText({ name, copies }: NodeView, now: number): string[] {
  if (copies.length === 0) return [];
  const lines = copies.map(({ host, address, started_at, heard_at }) => {
    const heard = heard_at === null ? "" : `, heard ${ageOf(heard_at, now)} ago`;
    return `${host} at ${address ?? "an unknown address"}, agent started ${started_at}${heard}`;
  });
  return [
    `COPIED KEY: more than one machine speaks as ${name}\n${indent([...lines, `what to do: ${COPIED_REMEDY}`].join("\n"))}`,
  ];
}

const programText = (program: ProgramView, now: number): string =>
  fields([
    ["version", program.version ?? "-"],
    ["health", programHealth(program, now)],
    ["as of", `${program.as_of}, ${ageOf(program.as_of, now)} ago`],
    ["running", program.running_fingerprint ?? "nothing"],
    ["installed", program.installed_fingerprint ?? "nothing"],
    ["instance", program.instance_id],
    ["started", program.started_at],
    ["on its own", aloneText(program)],
    ["restarts", String(program.restarts)],
  ]);

const aloneText = ({ started_alone: alone }: ProgramView): string | null =>
  alone === undefined ? null : `${startedAloneText(alone)}, at ${alone.at}`;

/** What the node last refused: the code, the node's own words, and the way on. */
function rejectionText({ last_rejection: rejection }: NodeView): string[] {
  if (rejection === null) return [];
  const rows = fields([
    ["code", rejection.code],
    ["of", rejection.subject],
    ["reason", rejection.reason],
    ["at", rejection.at],
    ["what to do", nextOf(rejection.code, "node")],
  ]);
  return [`last rejection\n${indent(rows)}`];
}

const indent = (text: string): string => text.replaceAll(/^/gm, "  ");

function stateOf(node: NodeView): string {
  if (node.revoked_at !== null) return node.replaced_by === null ? "revoked" : "replaced";
  if (node.pending !== null) return "pending";
  return node.enrolled ? node.state : "not enrolled";
}

/** How many nodes are known to be well, and of how many nothing is known. Revoked nodes are not of the fleet any more. */
export function healthSummary(nodes: readonly NodeView[]): string {
  const fleet = nodes.filter(({ revoked_at }) => revoked_at === null);
  const counts = new Map<ClaimedHealth, number>();
  for (const { programs } of fleet) {
    const health = worstHealth(programs.map((program) => program.application_health));
    counts.set(health, (counts.get(health) ?? 0) + 1);
  }
  const others = CLAIMED_HEALTH.filter((health) => health !== "ok" && counts.has(health));
  const gone = nodes.length - fleet.length;
  const claimed = [
    `healthy ${counts.get("ok") ?? 0} of ${fleet.length}`,
    ...others.map((health) => `${counts.get(health)} ${health}`),
  ].join(", ");
  return gone === 0 ? claimed : `${claimed}; ${gone} revoked or replaced`;
}

function healthOf({ programs }: NodeView, now: number): string {
  if (programs.length === 0) return "-";
  const [first] = programs;
  if (first?.application_health === "unknown") return unknownSince(first, now);
  return programs.map((program) => program.application_health).join(", ");
}

function programHealth(program: ProgramView, now: number): string {
  const { application_health, sync_status, last_reported: last } = program;
  if (application_health !== "unknown") return `${application_health}, ${sync_status}`;
  return `${unknownSince(program, now)}: it was ${last.application_health}, ${last.sync_status}`;
}

const unknownSince = ({ as_of }: ProgramView, now: number): string => `unknown, ${ageOf(as_of, now)} old`;

const seenAt = (node: NodeView, now: number): string =>
  node.last_heartbeat_at === null ? "never" : `${ageOf(node.last_heartbeat_at, now)} ago`;
