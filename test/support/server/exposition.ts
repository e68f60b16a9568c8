// Prometheus' text format 0.0.4, read strictly: whatever is not exactly in the format is an error.

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Family {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly samples: readonly Sample[];
}

const NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(.*)\\})? (NaN|[+-]Inf|-?\\d+(?:\\.\\d+)?(?:e[+-]?\\d+)?)$`);
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/;
const TYPES = new Set(["counter", "gauge", "histogram", "summary", "untyped"]);

export function parseExposition(text: string): ReadonlyMap<string, Family> {
  if (!text.endsWith("\n")) throw new Error("the last line does not end");
  const families = new Map<string, { name: string; type: string; help: string; samples: Sample[] }>();
  const seen = new Set<string>();
  let open: { name: string; type: string; help: string; samples: Sample[] } | undefined;
  let help: { name: string; text: string } | undefined;
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const helpLine = /^# HELP (\S+) (.+)$/.exec(line);
    const typeLine = /^# TYPE (\S+) (\S+)$/.exec(line);
    if (helpLine !== null) help = { name: helpLine[1]!, text: helpLine[2]! };
    else if (typeLine !== null) {
      const [, name = "", type = ""] = typeLine;
      if (help?.name !== name) throw new Error(`${name} has no help before its type`);
      if (!TYPES.has(type)) throw new Error(`${name} is of the unknown type ${type}`);
      if (families.has(name)) throw new Error(`${name} is described twice`);
      open = { name, type, help: help.text, samples: [] };
      families.set(name, open);
    } else {
      const sample = parseSample(line);
      if (open === undefined || !belongs(sample.name, open))
        throw new Error(`${sample.name} stands outside of its family`);
      const labels = Object.entries(sample.labels).map(([key, value]) => `${key}=${value}`);
      const series = `${sample.name} ${labels.toSorted().join(" ")}`;
      if (seen.has(series)) throw new Error(`${series} is there twice`);
      seen.add(series);
      open.samples.push(sample);
    }
  }
  for (const family of families.values()) check(family);
  return families;
}

function parseSample(line: string): Sample {
  const match = SAMPLE.exec(line);
  if (match === null) throw new Error(`not a sample: ${line}`);
  const [, name = "", inner = "", value = ""] = match;
  const labels: Record<string, string> = {};
  for (let rest = inner; rest !== "";) {
    const label = LABEL.exec(rest);
    if (label === null) throw new Error(`not a label: ${rest}`);
    const [whole, key = "", text = ""] = label;
    if (key in labels) throw new Error(`${key} is given twice: ${line}`);
    labels[key] = text;
    rest = rest.slice(whole.length);
  }
  return { name, labels, value: Number(value.replace("Inf", "Infinity")) };
}

const belongs = (sample: string, { name, type }: { name: string; type: string }): boolean =>
  type === "histogram"
    ? [`${name}_bucket`, `${name}_sum`, `${name}_count`].includes(sample)
    : type === "summary"
      ? [name, `${name}_sum`, `${name}_count`].includes(sample)
      : sample === name;

function check({ name, type, samples }: Family): void {
  if (type === "counter" && !name.endsWith("_total")) throw new Error(`the counter ${name} is no _total`);
  if (type === "counter" && samples.some(({ value }) => !(value >= 0)))
    throw new Error(`${name} is negative`);
  if (type !== "histogram") return;
  const buckets = Map.groupBy(
    samples.filter((sample) => sample.name === `${name}_bucket`),
    (sample) => {
      const { le: _, ...labels } = sample.labels;
      return JSON.stringify(labels);
    },
  );
  for (const [labels, series] of buckets) {
    const values = series.map(({ value }) => value);
    if (values.some((value, i) => i > 0 && value < values[i - 1]!))
      throw new Error(`${name} is not cumulative`);
    const count = samples.find(
      (sample) => sample.name === `${name}_count` && JSON.stringify(sample.labels) === labels,
    );
    if (series.at(-1)!.labels["le"] !== "+Inf" || series.at(-1)!.value !== count?.value)
      throw new Error(`${name} does not end in its count`);
  }
}
