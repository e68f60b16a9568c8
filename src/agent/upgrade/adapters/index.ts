/** The runtime that a program's config names. A new one is a new case here, and nothing else (ROLL-8). */
import type { RuntimeAdapter } from "../port.ts";
import { processAdapter, type ProcessAdapterDeps } from "./process/index.ts";

export function runtimeAdapter(deps: ProcessAdapterDeps): RuntimeAdapter {
  switch (deps.program.runtime) {
    case "process":
      return processAdapter(deps);
  }
}
