/** Where the CLI keeps what it knows. */
import { homedir } from "node:os";
import { join } from "node:path";
import type { Io } from "./io.ts";

export function homeOf(env: Io["env"]): string {
  const given = (name: string): string | undefined => (env[name] === "" ? undefined : env[name]);
  const own = given("FAIRLEAD_HOME");
  if (own !== undefined) return own;
  return join(given("XDG_CONFIG_HOME") ?? join(given("HOME") ?? homedir(), ".config"), "fairlead");
}
