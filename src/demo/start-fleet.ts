/** Several machines join at once, and have reported what they run before anything else happens. */
import { join } from "node:path";
import { z } from "zod";
import { FairleadError } from "../core/errors.ts";
import { sleep } from "../host/clock.ts";
import { ensureDirectory } from "../host/files.ts";
import type { Children } from "./children.ts";
import { fairlead } from "./command.ts";
import { prepareNode, startAgent, type FleetNode } from "./fleet.ts";

const REPORT_TIMEOUT_MS = 60_000;

export interface FleetSetup {
  readonly children: Children;
  readonly folder: string;
  readonly home: string;
  readonly nodes: number;
  readonly version: string;
  readonly program: Buffer;
  readonly enrollUrl: string;
  readonly origin: string;
}

export async function startFleet(setup: FleetSetup): Promise<FleetNode[]> {
  const { children, home, nodes, version, program, enrollUrl, origin } = setup;
  const folder = join(setup.folder, "fleet");
  await ensureDirectory(folder, 0o700);
  const names = Array.from({ length: nodes }, (_, index) => `edge-${index + 1}`);
  const fleet = await Promise.all(
    names.map((name) => prepareNode(home, { folder, name, version, program, enrollUrl, origin })),
  );
  for (const node of fleet) await startAgent(children, home, node);
  await untilReported(home, nodes, version);
  return fleet;
}

const Profile = z.object({ binary_version: z.string().nullable() });
const NodeList = z.object({ nodes: z.array(z.object({ profiles: z.array(Profile) })) });

async function untilReported(home: string, nodes: number, version: string): Promise<void> {
  const until = performance.now() + REPORT_TIMEOUT_MS;
  for (;;) {
    const list = NodeList.parse(await fairlead(home, ["node", "list"]));
    const versions = list.nodes.map(({ profiles }) => profiles[0]?.binary_version);
    if (versions.filter((each) => each === version).length === nodes) return;
    if (performance.now() > until) {
      throw new FairleadError("TIMEOUT", "the machines did not report in time; see the logs of the agents");
    }
    await sleep(100);
  }
}
