/** Where each resource of the model is kept. */
import type { ModelKind } from "../../core/model/resources.ts";

export interface ResourceTable {
  readonly table: string;
  /** Field of the spec → column. */
  readonly columns: Readonly<Record<string, string>>;
  readonly changedAt: "created_at" | "updated_at";
  /** `optional`: a resource of nobody is everybody's. */
  readonly owner: "none" | "optional" | "required";
}

export const TABLES = {
  organization: { table: "organizations", columns: {}, changedAt: "created_at", owner: "none" },
  policy: {
    table: "policies",
    columns: { kind: "kind", roles: "roles", body: "body" },
    changedAt: "updated_at",
    owner: "optional",
  },
  "secret-ref": { table: "secret_refs", columns: { ref: "ref" }, changedAt: "updated_at", owner: "required" },
  service: {
    table: "services",
    columns: {
      chain_profile_id: "chain_profile_id",
      resources: "resources",
      connectors: "connectors",
      secret_refs: "secrets",
      address: "address",
      description: "description",
    },
    changedAt: "updated_at",
    owner: "required",
  },
  "storage-endpoint": {
    table: "storage_endpoints",
    columns: { url: "url", shard: "shard", replicas: "replicas", families: "families" },
    changedAt: "updated_at",
    owner: "optional",
  },
} as const satisfies Record<ModelKind, ResourceTable>;
