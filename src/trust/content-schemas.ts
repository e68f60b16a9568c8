/** Check 11: the structure of each scope's content, and what a schema alone cannot say. */
import type { z } from "zod";
import type { Json } from "../core/json.ts";
import {
  DegradedPolicyContent,
  NodeBootstrapContent,
  NodeRuntimeContent,
  PeerDirectoryContent,
  QosPolicyContent,
  RoutePolicyContent,
  StorageDirectoryContent,
} from "../core/snapshot/contents.ts";
import type { ScopeType } from "../core/snapshot/scopes.ts";
import { ServiceAssignmentContent } from "../core/snapshot/service-assignment.ts";
import { TrustBundle } from "../core/snapshot/trust-bundle.ts";
import { readerFor, type ReadAlong, type ReadValue } from "./reader/read-along.ts";
import type { ContentFailure } from "./snapshot-subject.ts";
import { checkBundleRules } from "./trust-bundle-rules.ts";

const SCHEMAS = {
  node_bootstrap: NodeBootstrapContent,
  node_runtime: NodeRuntimeContent,
  peer_directory: PeerDirectoryContent,
  service_assignment: ServiceAssignmentContent,
  route_policy: RoutePolicyContent,
  qos_policy: QosPolicyContent,
  trust_bundle: TrustBundle,
  storage_directory: StorageDirectoryContent,
  degraded_mode_policy: DegradedPolicyContent,
} as const satisfies Record<ScopeType, z.ZodType>;

/** Reads the bytes of what is often large in one pass: canonical, of its schema, and without a secret. */
const READERS: Partial<Record<ScopeType, ReadAlong<Json>>> = {};
for (const [scope, schema] of Object.entries(SCHEMAS)) {
  if (scope !== "trust_bundle")
    READERS[scope as ScopeType] = readerFor(schema as z.ZodType<Json>, { isSearched: true });
}

/** Null says nothing against them: checks 11 and 12 are still to be asked. */
export const readContent = (scope: ScopeType, bytes: Uint8Array): ReadValue<Json> | null =>
  READERS[scope]?.(bytes) ?? null;

/** `previous`: the trust bundle before this one, for what only ever goes up. */
export function checkContent(
  scope: ScopeType,
  content: Json,
  previous: TrustBundle | null,
): ContentFailure | null {
  const parsed = SCHEMAS[scope].safeParse(content);
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!;
    return { field: issue.path.join(".") || "content", reason: issue.message };
  }
  return scope === "trust_bundle" ? checkBundleRules(parsed.data as TrustBundle, previous) : null;
}
