/** Resources of the model, for people: a table of them, and one as the YAML that makes it again. */
import { stringify } from "yaml";
import type { ModelKind, SpecOf } from "../../core/model/resources.ts";
import type { ResourceView } from "../../core/protocol/model-api.ts";
import { list } from "../../core/model/words.ts";
import { ageOf } from "../duration.ts";
import { printable, table } from "../output.ts";

const SUMMARIES: { readonly [K in ModelKind]: (spec: SpecOf<K>) => string } = {
  organization: () => "",
  policy: ({ kind, roles }) => `${kind}, for ${roles.length === 0 ? "every role" : list(roles)}`,
  "secret-ref": ({ ref }) => ref,
  service: ({ nodes }) => (nodes.length === 1 ? "on 1 node" : `on ${nodes.length} nodes`),
  "storage-endpoint": ({ url }) => url,
};

export function resourceTable(kind: ModelKind, items: readonly ResourceView[], now: number): string {
  if (items.length === 0) return "";
  return table(
    ["NAME", "ORGANIZATION", "CHANGED", "WHAT"],
    items.map(({ name, changed_at, spec }) => [
      name,
      "organization" in spec ? (spec.organization ?? "-") : "-",
      `${ageOf(changed_at, now)} ago`,
      (SUMMARIES[kind] as (value: unknown) => string)(spec),
    ]),
  );
}

/** `fairlead model set … --file` takes it as it is. */
export const specText = (spec: unknown): string =>
  stringify(spec, { lineWidth: 0 })
    .trimEnd()
    .split("\n")
    .map((line) => printable(line))
    .join("\n");
