/** Strategies, signals, ways back and groups on one real site with real agents (ROLL-11 to ROLL-14). */
import { afterAll, beforeAll } from "vitest";
import { startLab, type Lab } from "../../support/lab/lab.ts";
import { allAtOnce } from "./steering/all-at-once.ts";
import { badVersions } from "./steering/bad-versions.ts";
import { canary } from "./steering/canary.ts";
import { containers } from "./steering/containers.ts";
import { groups } from "./steering/groups.ts";
import { retry } from "./steering/retry.ts";

let lab: Lab;
beforeAll(async () => {
  lab = await startLab();
}, 120_000);
afterAll(async () => lab.stop(), 120_000);

canary(() => lab);
retry(() => lab);
allAtOnce(() => lab);
groups(() => lab);
badVersions(() => lab);
containers(() => lab);
