/** Every benchmark there is, with design.md's number where it has one. Later steps add theirs here. */
import type { Benchmark, Measurement } from "./support/measurement.ts";
import type { Workplace } from "./support/workplace.ts";

export interface Entry extends Benchmark {
  load(): Promise<{ run(place: Workplace): Promise<Measurement> }>;
}

export const BENCHMARKS: readonly Entry[] = [
  {
    id: "P1",
    title: "a 10,000-node rollout by simulated agents over the real agent API",
    reach: "≥ 1,000 nodes/s and ≥ 200 × ansible-core",
    peer: "ansible-core, a no-op on 40 local hosts",
    limit: "decisions and rows alone",
    load: () => import("./p1-rollout.ts"),
  },
  {
    id: "P1e",
    title: "machines that enroll at once with one key",
    reach: "≥ 500 nodes/s",
    peer: "none",
    limit: "requests verified and certificates signed, and nothing else",
    load: () => import("./p1e-enrollment.ts"),
  },
  {
    id: "P2",
    title: "heartbeat to durable row",
    reach: "≥ 0.6 × the peer; p99 < 250 ms at 3,500/s on < 0.5 core",
    peer: "Fastify answering 204 to the same body",
    limit: "the storing statement alone",
    load: () => import("./p2-heartbeat.ts"),
  },
  {
    id: "P4",
    title: "compile and sign 10,000 nodes' snapshots, four scopes of each",
    reach: "≥ 0.4 × the bare signing rate; one changed node publishes only its own",
    peer: "none",
    limit: "Ed25519 signatures over the same headers and nothing else",
    load: () => import("./p4-snapshots.ts"),
  },
  {
    id: "P7",
    title: "from the commit of a row to its snapshot in force, with 10,000 agents connected",
    reach: "p99 < 1,000 ms, also on the 20 that verify and store",
    peer: "none",
    limit: "none",
    load: () => import("./p7-propagation.ts"),
  },
  {
    id: "P3",
    title: "verify and parse a snapshot of 2 KB, 64 KB and 1 MB",
    reach: "≥ 0.8 × the limit at each size",
    peer: "@noble/ed25519 and canonicalize",
    limit: "Ed25519 verify by node:crypto and JSON.parse",
    load: () => import("./p3-verify.ts"),
  },
  {
    id: "P9",
    title: "an idle agent with one running program",
    reach: "RSS < 80 MB and < 0.2 % CPU",
    peer: "none",
    limit: "a bare node process with a timer",
    load: () => import("./p9-idle-agent.ts"),
  },
  {
    id: "P10",
    title: "the demo, on installed dependencies",
    reach: "console up < 5 s, first upgrade done < 20 s",
    peer: "none",
    limit: "none",
    load: () => import("./p10-demo.ts"),
  },
  {
    id: "GRID",
    title: "the rollout's page in a browser, 10,000 nodes and 1,000 events a second",
    reach: "p99 of a frame < 50 ms, at rest and scrolled",
    peer: "none",
    limit: "an empty page in the same browser",
    load: () => import("./grid.ts"),
  },
];
