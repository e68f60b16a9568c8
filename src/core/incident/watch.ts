/**
 * Which incidents the present trouble asks for. Each look sees all trouble of some categories, so that a look that is
 * repeated, lost or made by another replica decides the same.
 *
 * 1. Trouble that is there has one incident, however often it is seen and however often it comes and goes: an incident is
 *    resolved when its trouble was not seen for `incidentQuietMs`, counted from when somebody could see it.
 * 2. An incident that a person resolved stays resolved while its trouble lasts: the person knows. It opens again when
 *    the trouble comes back after a quiet time.
 * 3. More than `incidentsPerCategoryMax` at a time are one incident about all of them: a thousand nodes that lose one
 *    switch are one message. It ends below half of that, so that it does not flap either.
 */
import type { IncidentId } from "../protocol/incident-api.ts";
import type { Json } from "../json.ts";
import { LIMITS } from "../limits.ts";
import type { NodeId } from "../ids.ts";
import type { IncidentDraft } from "./draft.ts";
import type { WatchedCategory } from "./states.ts";

export interface Trouble extends IncidentDraft {
  readonly category: WatchedCategory;
  readonly subject: string;
  /** As a list of many shows it. */
  readonly name: string;
}

export interface KnownIncident {
  readonly id: IncidentId;
  readonly category: WatchedCategory;
  readonly nodeId: NodeId | null;
  readonly subject: string;
  readonly isResolved: boolean;
  readonly lastSeenAt: number;
}

export interface IncidentDecision {
  readonly opened: readonly IncidentDraft[];
  /** Their trouble is there at this look. */
  readonly seen: readonly IncidentId[];
  /** Of those seen: a count or a reason that moved since. */
  readonly changed: readonly {
    readonly id: IncidentId;
    readonly title: string;
    readonly detail: Readonly<Record<string, Json>>;
  }[];
  readonly resolved: readonly IncidentId[];
}

/** The subject of an incident about many. */
const MANY = "many";
const MANY_TITLES = {
  node_down: (count) => `${count} nodes are down`,
  crash_loop: (count) => `programs of ${count} nodes restart again and again`,
  snapshot_rejected: (count) => `${count} nodes refuse snapshots`,
  certificate_expiring: (count) => `${count} certificates are near their end or past it`,
  key_expiring: (count) => `${count} keys are near their end or past it`,
} as const satisfies Record<WatchedCategory, (count: number) => string>;

/** `visibleSince`: since when somebody looks without a gap. */
export function decideIncidents(
  troubles: readonly Trouble[],
  known: readonly KnownIncident[],
  now: number,
  visibleSince: number,
): IncidentDecision {
  const wanted = [...Map.groupBy(troubles, ({ category }) => category)].flatMap(([category, all]) =>
    isMany(category, all, known) ? [aboutMany(category, all)] : all,
  );
  const present = new Map([...troubles, ...wanted].map((trouble) => [keyOf(trouble), trouble]));
  const knownKeys = new Set(known.map(keyOf));
  const seen = known.filter((incident) => present.has(keyOf(incident)));
  const quiet = known.filter(
    (incident) =>
      !incident.isResolved &&
      !present.has(keyOf(incident)) &&
      now - Math.max(incident.lastSeenAt, visibleSince) >= LIMITS.incidentQuietMs,
  );
  return {
    opened: wanted.filter((trouble) => !knownKeys.has(keyOf(trouble))), // (1) (2)
    seen: seen.map(({ id }) => id),
    changed: seen.flatMap((incident) => {
      const { title, detail } = present.get(keyOf(incident))!;
      return incident.isResolved ? [] : [{ id: incident.id, title, detail }];
    }),
    resolved: quiet.map(({ id }) => id),
  };
}

const keyOf = ({ category, nodeId, subject }: Pick<Trouble, "category" | "nodeId" | "subject">): string =>
  `${category} ${nodeId ?? ""} ${subject}`;

function isMany(
  category: WatchedCategory,
  all: readonly Trouble[],
  known: readonly KnownIncident[],
): boolean {
  const max = LIMITS.incidentsPerCategoryMax;
  const isTold = known.some((each) => each.category === category && each.subject === MANY);
  return all.length > (isTold ? max / 2 : max); // (3)
}

function aboutMany(category: WatchedCategory, all: readonly Trouble[]): Trouble {
  const names = all.map(({ name }) => name).toSorted();
  const shown = names.slice(0, LIMITS.incidentsPerCategoryMax);
  return {
    category,
    severity: all.some(({ severity }) => severity === "critical") ? "critical" : "warning",
    nodeId: null,
    subject: MANY,
    name: MANY,
    title: MANY_TITLES[category](all.length),
    detail: { count: all.length, names: shown, more: names.length - shown.length },
    recoveryPlan:
      "Look for what these have in common: a network, a power supply, a release, a clock. " +
      "`fairlead node list` shows every node.",
  };
}
