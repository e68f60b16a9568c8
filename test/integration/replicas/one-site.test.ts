/** Suites that share one site of replicas: three servers, three Restate nodes, one PostgreSQL, real agents. */
import { afterAll, beforeAll } from "vitest";
import { addRunningNodes } from "../../support/lab/node.ts";
import type { Shared } from "../../support/replicas/shared.ts";
import { startReplicaSite } from "../../support/replicas/site.ts";
import { upgradesOf } from "../../support/replicas/upgrade.ts";
import { keyFiles } from "./one-site/key-files.ts";
import { killedParts } from "./one-site/killed-parts.ts";
import { selfUpgrade } from "./one-site/self-upgrade.ts";

let shared: Shared;

beforeAll(async () => {
  const site = await startReplicaSite();
  const nodes = await addRunningNodes(site, [{ name: "n1" }, { name: "n2" }, { name: "n3" }]);
  shared = { site, nodes, upgrades: upgradesOf(site, nodes) };
}, 200_000);
afterAll(async () => shared?.site.stop(), 120_000);

keyFiles(() => shared);
killedParts(() => shared);
selfUpgrade(() => shared); // the last: afterwards a newer build runs
