import { action } from "./action.ts";

/** Configs come now too: once the node is stopped, nothing waits for the network any more. */
export const acquireArtifact = action("acquire_artifact", {
  isDone: async ({ adapter, plan, configs }) =>
    ((await adapter.isAcquired(plan.artifact)) || (await adapter.isInstalled(plan.artifact))) &&
    configs.areStaged(plan.configs),
  run: async ({ adapter, plan, configs, signal }) => {
    await configs.stage(plan.configs, plan.kept_in, signal);
    if (!(await adapter.isInstalled(plan.artifact)))
      await adapter.acquire(plan.artifact, plan.kept_in, signal);
  },
  compensate: async ({ adapter, plan, configs }) => {
    await adapter.removeDownload(plan.artifact);
    await configs.clear();
  },
});
