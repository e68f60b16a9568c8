import type { Call, Result } from "../call.ts";
import { contextStore } from "../context.ts";
import { table } from "../output.ts";

export async function run({ io }: Call): Promise<Result> {
  const store = contextStore(io.env);
  const [names, current] = [await store.list(), await store.current()];
  const contexts = await Promise.all(
    names.map(async (name) => {
      const { context } = await store.load(name);
      return {
        name,
        current: name === current,
        server: context.server,
        cluster_id: context.pins?.cluster_id ?? null,
      };
    }),
  );
  const rows = contexts.map((c) => [c.current ? "*" : "", c.name, c.server, c.cluster_id ?? "no pins"]);
  const text = rows.length === 0 ? "" : table(["", "NAME", "SERVER", "CLUSTER"], rows);
  const none =
    "no context yet: `fairlead init` makes one for a new site, `fairlead login` for one that exists";
  return { data: { contexts }, text, ...(rows.length === 0 ? { notes: none } : {}) };
}
