import { action, never } from "./action.ts";

export const reloadDaemon = action("reload_daemon", {
  isDone: never, // safe to repeat, and no runtime tells what it has read
  run: async ({ adapter, signal }) => adapter.reload(signal),
  compensate: async ({ adapter, signal }) => adapter.reload(signal),
});
