/** Numbers for Prometheus, behind a seam: nothing outside this folder knows the library. */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";

type Labels<Name extends string> = Readonly<Record<Name, string>>;

export interface CounterMetric<Name extends string> {
  add(labels: Labels<Name>, by?: number): void;
}
export interface GaugeMetric<Name extends string> {
  set(labels: Labels<Name>, value: number): void;
  /** Forgets one series: what is over is not reported for ever. */
  remove(labels: Labels<Name>): void;
  /** Forgets every series, for a gauge that is set anew as a whole. */
  reset(): void;
}
export interface HistogramMetric<Name extends string> {
  observe(labels: Labels<Name>, value: number): void;
}

export interface MetricRegistry {
  counter<Name extends string>(name: string, help: string, labels: readonly Name[]): CounterMetric<Name>;
  gauge<Name extends string>(name: string, help: string, labels: readonly Name[]): GaugeMetric<Name>;
  histogram<Name extends string>(
    name: string,
    help: string,
    labels: readonly Name[],
    buckets: readonly number[],
  ): HistogramMetric<Name>;
  /** Runs before each scrape. */
  beforeScrape(refresh: () => Promise<void>): void;
  scrape(): Promise<{ readonly contentType: string; readonly text: string }>;
}

const PREFIX = "fairlead_";

export function createMetricRegistry(): MetricRegistry {
  const registry = new Registry();
  const refreshers: (() => Promise<void>)[] = [];
  collectDefaultMetrics({ register: registry, prefix: PREFIX });
  const described = <Name extends string>(name: string, help: string, labelNames: readonly Name[]) => ({
    name: `${PREFIX}${name}`,
    help,
    labelNames: [...labelNames],
    registers: [registry],
  });
  return {
    counter(name, help, labels) {
      const counter = new Counter(described(name, help, labels));
      return { add: (values, by = 1) => counter.inc(values, by) };
    },
    gauge(name, help, labels) {
      const gauge = new Gauge(described(name, help, labels));
      return {
        set: (values, value) => gauge.set(values, value),
        remove: (values) => gauge.remove(values),
        reset: () => gauge.reset(),
      };
    },
    histogram(name, help, labels, buckets) {
      const histogram = new Histogram({ ...described(name, help, labels), buckets: [...buckets] });
      return { observe: (values, value) => histogram.observe(values, value) };
    },
    beforeScrape: (refresh) => void refreshers.push(refresh),
    async scrape() {
      for (const refresh of refreshers) await refresh();
      const text = await registry.metrics();
      // The library writes `Nan`, which the format does not know and not every reader forgives.
      return { contentType: registry.contentType, text: text.replaceAll(/ Nan$/gm, " NaN") };
    },
  };
}
