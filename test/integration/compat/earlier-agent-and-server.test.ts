// Agents and servers are upgraded one after the other: each of this build works with the other of the build before.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  BEFORE_PROTOCOL_NUMBERS,
  buildEarlier,
  hasCommit,
  type EarlierBuild,
} from "../../support/compat/earlier-build.ts";
import { startLab, type Lab } from "../../support/lab/lab.ts";
import { addRunningNodes } from "../../support/lab/node.ts";
import { completed, endingOf, startRollout } from "../../support/lab/rollout.ts";

const isDeep = hasCommit(BEFORE_PROTOCOL_NUMBERS);
const title = isDeep ? "the build before" : "the build before (git fetch --unshallow)";

describe.skipIf(!isDeep)(title, () => {
  let lab: Lab | undefined;
  let earlier: EarlierBuild | undefined;

  async function upgrade(builds: { readonly server?: string; readonly agent?: string }) {
    lab = await startLab({ builds });
    const nodes = await addRunningNodes(lab, [{ name: "n1" }, { name: "n2" }]);
    const v2 = lab.origin.publish("2.0.0");
    const id = await startRollout(lab, { from: "1.0.0", to: v2 });
    expect(await endingOf(lab, id)).toEqual(completed(nodes));
    for (const node of nodes) expect((await node.running()).version).toBe("2.0.0");
  }

  beforeAll(async () => {
    earlier = await buildEarlier(BEFORE_PROTOCOL_NUMBERS);
  });
  afterAll(async () => earlier?.remove());
  afterEach(async () => {
    await lab?.stop();
    lab = undefined;
  });

  test("USE-7: agents of the build before complete an upgrade with this server", async () => {
    await upgrade({ agent: earlier!.fairlead });
  });

  test("USE-7: agents of this build complete an upgrade with the server of the build before", async () => {
    await upgrade({ server: earlier!.fairlead });
  });
});
