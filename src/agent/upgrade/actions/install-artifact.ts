import { action } from "./action.ts";
import { savedBy } from "./backup-state.ts";

export const installArtifact = action("install_artifact", {
  isDone: async ({ adapter, plan }) => adapter.isInstalled(plan.artifact, plan),
  run: async ({ adapter, plan, signal }) => adapter.install(plan.artifact, signal, plan),
  compensate: async (context) => context.adapter.restore(savedBy(context), context.signal),
});
