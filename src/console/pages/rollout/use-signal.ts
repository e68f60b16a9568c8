/** Sends a signal and shows at once where the rollout is now. */
import { useQueryClient } from "@tanstack/react-query";
import { RolloutView } from "../../../core/protocol/operator-api.ts";
import type { SignalKind } from "../../../core/rollout/states.ts";
import { request } from "../../api/http.ts";
import { KEYS, rolloutQuery } from "../../api/queries.ts";

export type SendSignal = (
  signal: SignalKind,
  reason: string | undefined,
  key: string,
  nodeId?: string,
) => Promise<void>;

export function useSignal(rolloutId: string): SendSignal {
  const client = useQueryClient();
  return async (signal, reason, key, nodeId) => {
    const node = nodeId === undefined ? "" : `/nodes/${encodeURIComponent(nodeId)}`;
    const path = `/rollouts/${encodeURIComponent(rolloutId)}${node}/${signal.replace("_", "-")}`;
    const body = reason === undefined ? {} : { reason };
    try {
      const rollout = await request(RolloutView, path, { method: "POST", body, key });
      client.setQueryData(rolloutQuery(rolloutId).queryKey, rollout);
    } catch (error) {
      // Somebody else may have been quicker: the page then shows where the rollout is now.
      void client.invalidateQueries({ queryKey: KEYS.rollout(rolloutId) });
      throw error;
    }
  };
}
