/** The files that Stryker changes, by layer, and the test files that may notice. */
import { globSync } from "node:fs";
import { inRoot } from "../../root.mjs";

interface StrykerLayer {
  readonly layer: "core" | "trust" | "agent";
  readonly files: readonly string[];
  /** Patterns. */
  readonly tests: readonly string[];
}

const filesOf = (pattern: string): string[] => globSync(pattern, { cwd: inRoot(".") }).toSorted();

/**
 * The agent's pure files: functions of their arguments, without files, sockets, processes, waiting or randomness of their
 * own. Time comes from a clock that is an argument. Everything else of the agent is in the table of hand-written changes.
 *
 * Not here though pure: files of types and schemas alone (`upgrade/port.ts`, `upgrade/backup/manifest.ts`,
 * `adapters/docker/schemas.ts`, `shim/files.ts`), lists that a test reads (`degraded/call-sites.ts`,
 * `adapters/docker/cloned-settings.ts`) and wiring (`programs/open.ts`, `adapters/index.ts`). `identity/csr.ts` signs with
 * a new random number each time.
 */
const PURE_AGENT_FILES = [
  "src/agent/authority/authorize.ts", // a command against intent, assignment, ledger and time
  "src/agent/degraded/contact.ts", // whether the control plane is there, from answers and a clock
  "src/agent/degraded/gate-keeper.ts", // the situation in which the gate is asked
  "src/agent/job-line.ts", // the order of accepted jobs
  "src/agent/link/named-replicas.ts", // addresses in a signed content
  "src/agent/link/server-error.ts", // an answer of the server as an error
  "src/agent/programs/config.ts", // the rules of a program's config
  "src/agent/programs/loopback.ts", // classes of addresses
  "src/agent/snapshots/belief.ts", // keys, roles and versions that a check compares with
  "src/agent/snapshots/claims.ts", // a frame's claims before anything is verified
  "src/agent/snapshots/held.ts", // contents in force, in memory
  "src/agent/snapshots/undated.ts", // an unset clock, for TLS
  "src/agent/upgrade/adapters/docker/api-version.ts", // the version that both sides speak
  "src/agent/upgrade/adapters/docker/clone.ts", // a container's settings for the next one
  "src/agent/upgrade/adapters/docker/labels.ts", // a run as labels and back
  "src/agent/upgrade/adapters/docker/reference.ts", // an image's name
  "src/agent/upgrade/adapters/systemd/drop-in.ts", // a launch as a drop-in and back
  "src/agent/upgrade/adapters/systemd/provisioned.ts", // a unit compared with the config
  "src/agent/upgrade/adapters/systemd/quoting.ts", // values as systemd reads them
  "src/agent/upgrade/adapters/systemd/unit-state.ts", // the output of systemctl show
  "src/agent/upgrade/passing-failures.ts", // failures that are retried
  "src/agent/upgrade/plan.ts", // a job as a plan for this node
];

export const STRYKER_LAYERS: readonly StrykerLayer[] = [
  { layer: "trust", files: filesOf("src/trust/**/*.ts"), tests: ["test/unit/trust/**/*.test.ts"] },
  {
    layer: "agent",
    files: PURE_AGENT_FILES,
    // Without those that break a disk at every write: seconds each, for files that are not pure.
    tests: ["test/unit/agent-*/!(disk-*|full-disk|power-cut|kill|start|backup-faults).test.ts"],
  },
  {
    layer: "core",
    files: filesOf("src/core/**/*.ts"),
    tests: ["test/unit/{core,compile,health,incident,keys,model,notify}/**/*.test.ts"],
  },
];
