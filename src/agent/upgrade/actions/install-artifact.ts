import { action } from "./action.ts";
import { savedBy } from "./backup-state.ts";

export const installArtifact = action("install_artifact", {
  isDone: async ({ adapter, plan }) => adapter.isInstalled(plan.artifact),
  run: async ({ adapter, plan, signal }) => adapter.install(plan.artifact, signal),
  compensate: async (context) => context.adapter.restore(savedBy(context), context.signal),
});
