/** A worker that is a few thousand machines: one simulated agent and one connection for each. */
import type { EnrolledNode } from "../support/enroll.ts";
import { mapAtOnce } from "../support/statistics.ts";
import { openWire } from "../support/wire.ts";
import { serveJobs } from "../support/worker.ts";
import { runSimulatedAgent } from "./simulated-agent.ts";

const HANDSHAKES_AT_ONCE = 16;

let failure: string | null = null;

export const jobs = {
  /** Returns when every agent has sent its heartbeat and waits in a long poll. */
  async connect({ url, nodes }: { url: string; nodes: readonly EnrolledNode[] }): Promise<void> {
    await mapAtOnce(nodes, HANDSHAKES_AT_ONCE, async (node) => {
      const wire = await openWire(url, node);
      await new Promise<void>((resolve, reject) => {
        runSimulatedAgent(wire, resolve).catch((error: unknown) => {
          failure ??= String(error);
          reject(error);
        });
      });
    });
  },

  /** What went wrong with any agent so far. */
  failure: async (): Promise<string | null> => failure,
};

serveJobs(jobs);
