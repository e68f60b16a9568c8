import { action } from "./action.ts";
import { savedBy } from "./backup-state.ts";

export const writeConfigs = action("write_configs", {
  isDone: async ({ adapter, plan }) => adapter.configsMatch(plan.configs, plan.absent),
  run: async ({ adapter, plan, configs, signal }) => {
    for (const config of plan.configs) {
      await adapter.writeConfig(config, await configs.read(config, signal), plan.run, signal);
    }
    for (const path of plan.absent) await adapter.removeConfig(path, signal);
  },
  compensate: async (context) => context.adapter.restoreConfigs(savedBy(context), context.signal),
});
