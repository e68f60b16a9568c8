import { action } from "./action.ts";
import { savedBy } from "./backup-state.ts";

export const stopNode = action("stop_node", {
  isDone: async ({ adapter }) => !(await adapter.isRunning()),
  run: async ({ adapter, signal }) => adapter.stop(signal),
  compensate: async (context) => {
    const { adapter, plan, signal } = context;
    const { ran, artifact, run } = await adapter.readBackup(savedBy(context));
    if (ran && artifact !== null)
      await adapter.start({ key: plan.key, fingerprint: artifact.sha256, run }, signal);
  },
});
