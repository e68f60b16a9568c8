/** Two machines hold one node's key: what a person is told, and what helps to tell the machines apart. */
import type { NodeId } from "../ids.ts";
import type { AgentInstance } from "../protocol/agent-api.ts";
import type { IncidentDraft } from "./draft.ts";

/** Longer than several heartbeats of either machine, with one of them away for a while. */
export const copySeenMs = 10 * 60_000;

export interface SpeakingAgent extends AgentInstance {
  readonly address: string | null;
  /** When it last took over from another one; absent for the first that was heard. */
  readonly heard_at?: string;
}

export const copiedIncident = (
  nodeId: NodeId,
  name: string,
  agents: readonly SpeakingAgent[],
): IncidentDraft => ({
  category: "identity_copied",
  severity: "critical",
  nodeId,
  title: `two machines use the key of node ${name}`,
  detail: {
    agents: agents.map(({ id, host, address, started_at, heard_at }) => ({
      id,
      host,
      address,
      started_at,
      heard_at: heard_at ?? null,
    })),
  },
  recoveryPlan: COPIED_REMEDY,
});

export const COPIED_REMEDY =
  "Revoke the node, then enroll each machine with a token of its own: `fairlead node revoke`, `fairlead node token`. Until then both machines take the node's commands.";
