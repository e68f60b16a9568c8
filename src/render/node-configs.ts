/** The config files of each node by digest: what an intent's leaf names, and what a node is sent. */
import { FairleadError } from "../core/errors.ts";
import type { Digest } from "../core/ids.ts";
import { LIMITS } from "../core/limits.ts";
import type { ConfigRef } from "../core/upgrade/job.ts";
import type { ConfigPlan, NodeFacts, RenderedConfig } from "./configs.ts";

export interface NodeConfigs {
  /** All of the node's, sorted by path: a leaf has one form. */
  readonly all: ConfigRef[];
  /** Those that are its own. */
  readonly own: readonly ConfigRef[];
}

export interface ConfigBook {
  readonly shared: readonly ConfigRef[];
  of(node: NodeFacts): NodeConfigs;
  /** Every distinct file met so far. */
  readonly contents: ReadonlyMap<Digest, string>;
}

/** Hashing and the search for secrets are trust's business, and come in. */
export interface ConfigSeal {
  digestOf(content: string): Digest;
  /** Throws CONFIG_SECRET_FOUND. */
  refuseSecret(file: { readonly path: string; readonly content: string }): void;
}

export function openConfigBook(plan: ConfigPlan, seal: ConfigSeal): ConfigBook {
  const contents = new Map<Digest, string>();
  let chars = 0;
  const refOf = ({ path, mode, content }: RenderedConfig): ConfigRef => {
    const sha256 = seal.digestOf(content);
    if (!contents.has(sha256)) {
      seal.refuseSecret({ path, content });
      contents.set(sha256, content);
      chars += content.length;
      if (chars > LIMITS.rolloutConfigBytesMax)
        throw new FairleadError(
          "PAYLOAD_TOO_LARGE",
          `the config files of all nodes exceed ${LIMITS.rolloutConfigBytesMax} bytes`,
        );
    }
    return { path, mode, sha256 };
  };
  const shared = plan.shared.map(refOf);
  return {
    shared,
    contents,
    of(node) {
      if (plan.own === null) return { all: [...shared], own: [] };
      const own = plan.own(node).map(refOf);
      return { all: [...shared, ...own].toSorted((a, b) => (a.path < b.path ? -1 : 1)), own };
    },
  };
}
