/** Check 11 for each scope known here: structure, and what a schema alone cannot say. */
import type { Json } from "../core/json.ts";
import type { ScopeType } from "../core/snapshot/scopes.ts";
import { ServiceAssignmentContent } from "../core/snapshot/service-assignment.ts";
import { TrustBundle } from "../core/snapshot/trust-bundle.ts";
import { FairleadError } from "../core/errors.ts";
import { loadPublicKey } from "./keys.ts";
import type { z } from "zod";

export interface ContentFailure {
  readonly field: string;
  readonly reason: string;
}

type ContentCheck = (content: Json, previous: TrustBundle | null) => ContentFailure | null;

const CHECKS: Partial<Record<ScopeType, ContentCheck>> = {
  trust_bundle: checkTrustBundle,
  service_assignment: (content) => structure(ServiceAssignmentContent, content),
};

export const contentSchemaOf = (scope: ScopeType): ContentCheck | undefined => CHECKS[scope];

function structure(schema: z.ZodType, content: Json): ContentFailure | null {
  const parsed = schema.safeParse(content);
  if (parsed.success) return null;
  const issue = parsed.error.issues[0]!;
  return { field: issue.path.join(".") || "content", reason: issue.message };
}

export function checkTrustBundle(content: Json, previous: TrustBundle | null): ContentFailure | null {
  const failure = structure(TrustBundle, content);
  if (failure !== null) return failure;
  const bundle = TrustBundle.parse(content);
  if (bundle.root.threshold > bundle.root.keys.length) {
    return { field: "root.threshold", reason: "more signatures asked for than keys exist" };
  }
  if (previous?.intents_required === true && !bundle.intents_required) {
    return { field: "intents_required", reason: "it only ever goes up" };
  }
  return everyKeyLoads(bundle);
}

function everyKeyLoads(bundle: TrustBundle): ContentFailure | null {
  const groups = {
    root: bundle.root.keys,
    online_keys: bundle.online_keys,
    release_keys: bundle.release_keys,
  };
  const seen = new Set<string>();
  for (const [field, keys] of Object.entries(groups)) {
    for (const record of keys) {
      if (seen.has(record.key_id)) return { field, reason: `key ${record.key_id.slice(0, 12)} stands twice` };
      seen.add(record.key_id);
      try {
        loadPublicKey(record);
      } catch (error) {
        if (error instanceof FairleadError) return { field, reason: error.message };
        throw error;
      }
    }
  }
  return null;
}
