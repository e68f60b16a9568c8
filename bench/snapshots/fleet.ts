/** A worker that is many nodes waiting for snapshots: it says when which node had which version. */
import { join } from "node:path";
import type { Identity } from "../../src/agent/identity/store.ts";
import { runSimulatedAgent } from "../rollout/simulated-agent.ts";
import type { EnrolledNode } from "../support/enroll.ts";
import { mapAtOnce } from "../support/statistics.ts";
import { openWire } from "../support/wire.ts";
import { serveJobs } from "../support/worker.ts";
import { monotonicMs } from "./monotonic.ts";
import { runVerifyingAgent } from "./verifying-agent.ts";

const HANDSHAKES_AT_ONCE = 16;

export interface Applied {
  readonly nodeId: string;
  readonly version: number;
  /** By the clock that all processes of a machine share. */
  readonly at: number;
}

interface Joining {
  readonly url: string;
  readonly nodes: readonly EnrolledNode[];
}

let failure: string | null = null;
let seen: Applied[] = [];

/** Resolves when the agent waits in its first long poll that brings nothing. */
function begun(run: (waiting: () => void) => Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    run(resolve).catch((error: unknown) => {
      failure ??= error instanceof Error ? (error.stack ?? error.message) : String(error);
      reject(error);
    });
  });
}

const noted =
  (nodeId: string) =>
  (header: { readonly scope_type: string; readonly config_version: number }): void => {
    if (header.scope_type === "route_policy")
      seen.push({ nodeId, version: header.config_version, at: monotonicMs() });
  };

export const jobs = {
  async simulate({ url, nodes }: Joining): Promise<void> {
    await mapAtOnce(nodes, HANDSHAKES_AT_ONCE, async (node) => {
      const wire = await openWire(url, node);
      await begun((waiting) => runSimulatedAgent(wire, waiting, noted(node.nodeId)));
    });
  },

  async verify({
    url,
    nodes,
    folder,
    identities,
  }: Joining & { readonly folder: string; readonly identities: readonly Identity[] }): Promise<void> {
    await mapAtOnce(nodes, HANDSHAKES_AT_ONCE, async (node, at) => {
      const wire = await openWire(url, node);
      const own = join(folder, node.nodeId);
      await begun((waiting) => runVerifyingAgent(wire, own, identities[at]!, waiting, noted(node.nodeId)));
    });
  },

  /** What was applied since it was asked last. */
  async applied(): Promise<Applied[]> {
    if (failure !== null) throw new Error(failure);
    const news = seen;
    seen = [];
    return news;
  },
};

serveJobs(jobs);
