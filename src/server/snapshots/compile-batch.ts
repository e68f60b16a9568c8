/**
 * Compiles and seals for many nodes: what several of them share is done once. What cannot be signed for one node is
 * set aside with its reason and stops nobody else (SNAP-3, SNAP-5).
 */
import { compileNode } from "../../core/compile/compile-node.ts";
import type { NodeState } from "../../core/compile/rows.ts";
import { viewOf } from "../../core/compile/shared-view.ts";
import type { ErrorCode } from "../../core/error-codes.ts";
import { FairleadError } from "../../core/errors.ts";
import { sealContent, type SealedContent } from "../../trust/sealed-content.ts";
import type { NodeScope } from "./stored.ts";

export interface CompiledItem extends NodeScope {
  readonly content: SealedContent;
}

export interface Refusal extends NodeScope {
  readonly code: ErrorCode;
  readonly path: string;
  readonly message: string;
}

export interface Compiled {
  readonly items: CompiledItem[];
  readonly refused: Refusal[];
}

export function compileBatch(states: ReadonlyMap<string, NodeState>, work: readonly NodeScope[]): Compiled {
  const shared = new Map<string, SealedContent | FairleadError>();
  const items: CompiledItem[] = [];
  const refused: Refusal[] = [];
  for (const { nodeId, scope } of work) {
    const state = states.get(nodeId);
    if (state === undefined) continue;
    const view = viewOf(state, scope);
    const known = view === null ? undefined : shared.get(view);
    const content = known ?? seal(state, scope);
    if (view !== null) shared.set(view, content);
    if (content instanceof FairleadError) refused.push(refusalOf({ nodeId, scope }, content));
    else items.push({ nodeId, scope, content });
  }
  return { items, refused };
}

function seal(state: NodeState, scope: NodeScope["scope"]): SealedContent | FairleadError {
  try {
    return sealContent(scope, compileNode(state, scope));
  } catch (error) {
    if (error instanceof FairleadError) return error;
    return new FairleadError("INTERNAL", "the compiler failed", undefined, error);
  }
}

/** The message names a place and what it looks like, never what stands there. */
export function refusalOf({ nodeId, scope }: NodeScope, error: FairleadError): Refusal {
  const { detail } = error;
  const named = detail?.["path"] ?? detail?.["field"];
  const path = typeof named === "string" ? named : "content";
  return { nodeId, scope, code: error.code, path, message: error.message };
}
