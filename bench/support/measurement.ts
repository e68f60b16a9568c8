/** What a benchmark says: our figure beside the peer's and the limit's, measured in the same run on the same machine. */

/** One more figure of the same run; `reached` only where design.md names a number for it. */
export interface Also {
  readonly name: string;
  readonly value: number | null;
  readonly unit: string;
  readonly reach?: string;
  readonly reached?: boolean;
}

export interface Measurement {
  readonly ours: number;
  readonly peer: number | null;
  readonly limit: number | null;
  readonly unit: string;
  /** Against design.md's number, every part of it. */
  readonly reached: boolean;
  readonly also: readonly Also[];
}

export interface Benchmark {
  readonly id: string;
  readonly title: string;
  readonly reach: string;
  readonly peer: string;
  readonly limit: string;
}

const ratio = (ours: number, other: number | null): number | null =>
  other === null || other === 0 ? null : rounded(ours / other);

/** Three significant digits: a fourth would be noise. */
const rounded = (value: number): number => Number(value.toPrecision(3));

export function lineOf(id: string, { ours, peer, limit, unit, reached, also }: Measurement): string {
  return JSON.stringify({
    id,
    ours: rounded(ours),
    peer: peer === null ? null : rounded(peer),
    limit: limit === null ? null : rounded(limit),
    unit,
    vs_peer: ratio(ours, peer),
    vs_limit: ratio(ours, limit),
    reached,
    also: also.map((one) => ({ ...one, value: one.value === null ? null : rounded(one.value) })),
  });
}

const shown = (value: number | null, unit = ""): string =>
  value === null
    ? "—"
    : `${rounded(value).toLocaleString("en-US", { maximumFractionDigits: 4 })}${unit === "" ? "" : ` ${unit}`}`;

export function textOf(benchmark: Benchmark, measured: Measurement): string {
  const { ours, peer, limit, unit, reached, also } = measured;
  const against = (what: string, value: number | null): string =>
    value === null
      ? `not here (${what})`
      : `${shown(value, unit)} (${what}); ours is ${shown(ratio(ours, value))} of it`;
  const rows: readonly (readonly [string, string])[] = [
    ["ours", shown(ours, unit)],
    ["peer", against(benchmark.peer, peer)],
    ["limit", against(benchmark.limit, limit)],
    ...also.map(({ name, value, unit: of, reach, reached: met }): [string, string] => [
      name,
      `${shown(value, of)}${reach === undefined ? "" : ` (to reach: ${reach}${met === true ? ", reached" : ", not reached"})`}`,
    ]),
    ["to reach", `${benchmark.reach}: ${reached ? "reached" : "NOT reached"}`],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`);
  return `${benchmark.id}  ${benchmark.title}\n${lines.join("\n")}\n`;
}
