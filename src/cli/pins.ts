/** Pins, or why there are none. What is signed or handed to a node is never taken from the server's word. */
import { FairleadError } from "../core/errors.ts";
import type { NamedContext, Pins } from "./context.ts";

export function pinsOf({ name, context }: NamedContext): Pins {
  if (context.pins !== null) return context.pins;
  throw new FairleadError(
    "USAGE",
    `context ${name} has no pins of its site: log in again with --pins FILE, made by \`fairlead context show --json\` on a machine that has them`,
  );
}
