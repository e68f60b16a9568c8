import { action } from "./action.ts";

export const startNode = action("start_node", {
  /** Running is not enough: it must be these bytes, started by this job. */
  isDone: async ({ adapter, plan }) => {
    const running = await adapter.running();
    return (
      running?.fingerprint === plan.artifact.fingerprint && running.instance_id.startsWith(`${plan.key}.`)
    );
  },
  run: async ({ adapter, plan, signal }) =>
    adapter.start({ key: plan.key, fingerprint: plan.artifact.fingerprint, run: plan.run }, signal),
  compensate: async ({ adapter, signal }) => adapter.stop(signal),
});
