import { AGENT } from "./agent.ts";
import { CLI } from "./cli.ts";
import { CORE } from "./core.ts";
import type { Mutant } from "./mutant.ts";
import { SERVER } from "./server.ts";
import { SQL } from "./sql.ts";
import { TRUST } from "./trust.ts";

export const MUTANTS: readonly Mutant[] = [...CORE, ...TRUST, ...AGENT, ...SERVER, ...SQL, ...CLI];
