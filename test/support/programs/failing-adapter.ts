/** Adapters that fail at one place, once, before they did anything or after; and those to which something happens there. */
import type { RuntimeAdapter } from "../../../src/agent/upgrade/port.ts";
import type { ActionName } from "../../../src/core/upgrade/phases.ts";

export type Method = keyof RuntimeAdapter;

export const METHOD_OF: Readonly<Record<ActionName, Method>> = {
  backup_state: "backup",
  acquire_artifact: "acquire",
  verify_artifact: "verify",
  stop_node: "stop",
  install_artifact: "install",
  write_configs: "writeConfig",
  reload_daemon: "reload",
  start_node: "start",
};

export function failingOnce(
  adapter: RuntimeAdapter,
  method: Method,
  when: "before" | "after",
): RuntimeAdapter {
  let failed = false;
  return around(adapter, method, async (work) => {
    if (failed) return work();
    failed = true;
    if (when === "after") await work();
    throw new Error(`${method} failed ${when} its effect`);
  });
}

export function failingAlways(adapter: RuntimeAdapter, method: Method): RuntimeAdapter {
  return around(adapter, method, async () => {
    throw new Error(`${method} fails`);
  });
}

/** Replaces one method by `instead`, which gets the real one as `work`. */
export function around(
  adapter: RuntimeAdapter,
  method: Method,
  instead: (work: () => Promise<unknown>, args: readonly unknown[]) => Promise<unknown>,
): RuntimeAdapter {
  const real = adapter[method] as (...args: readonly unknown[]) => Promise<unknown>;
  return {
    ...adapter,
    [method]: async (...args: readonly unknown[]) => instead(async () => real(...args), args),
  };
}

/** Does what it does, after something else has happened. */
export const doing = (
  adapter: RuntimeAdapter,
  before: keyof RuntimeAdapter,
  effect: () => Promise<void>,
): RuntimeAdapter =>
  around(adapter, before, async (work) => {
    await effect();
    return work();
  });
