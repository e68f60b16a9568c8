/**
 * Nobody answers (SNAP-9, SNAP-17): what the policy allows goes on, what is forbidden is refused with its code, and time
 * ends it all, whatever the clock is set to. The last of the site's tests: its server does not come back.
 */
import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { createContact } from "../../../../src/agent/degraded/contact.ts";
import { createGateKeeper } from "../../../../src/agent/degraded/gate-keeper.ts";
import { folderOf, Identity } from "../../../../src/agent/identity/store.ts";
import { openSnapshotStore } from "../../../../src/agent/snapshots/store.ts";
import type { NodeStatus } from "../../../../src/agent/status.ts";
import { CONNECTED_ACTIONS, DEGRADED_ACTIONS, type Action } from "../../../../src/core/degraded/actions.ts";
import { run } from "../../../../src/host/process.ts";
import { stopProcess, type ProcessIdentity } from "../../../../src/host/process-identity.ts";
import { commandEnv, FAIRLEAD, NODE } from "../../../../src/demo/command.ts";
import { eventually } from "../../../support/lab/eventually.ts";
import type { Lab } from "../../../support/lab/lab.ts";
import { addNode, type LabNode } from "../../../support/lab/node.ts";
import { killHard } from "../../../support/lab/processes.ts";

const HOUR_MS = 3_600_000;
const OFFLINE_MAX_MS = 4 * HOUR_MS;
const ALLOWED: readonly Action[] = ["continue_services", "report_status"];
const POLICY = {
  kind: "degraded_mode",
  body: {
    allowed: ALLOWED,
    offline_max_ms: OFFLINE_MAX_MS,
    route_ttl_ms: HOUR_MS,
    session_ttl_ms: HOUR_MS,
    when_partitioned: "continue",
  },
};

export function controlPlaneStopped(lab: () => Lab): void {
  describe("with the control plane stopped", () => {
    let node: LabNode;
    let agent: ProcessIdentity;
    let instance: string;

    beforeAll(async () => {
      node = await addNode(lab(), { name: "alone-1", profile: "alone" });
      agent = await node.startAgent();
      await node.reported();
      await fairlead("model", "set", "policy", "night", "--json-body", JSON.stringify(POLICY));
      await eventually("the node holds the policy", async () => {
        const { alone } = await status();
        return alone.some((gate) => gate.action === "report_status" && gate.kind === "open");
      });
      instance = (await node.running()).instance_id;
      await stopProcess(lab().server(), { graceMs: 20_000 });
    }, 120_000);

    async function fairlead(...argv: string[]): Promise<void> {
      const ran = await lab().operator.fairlead(...argv);
      expect([argv, ran.code, ran.err]).toEqual([argv, 0, ran.err]);
    }

    /** As somebody on the machine asks. */
    async function status(): Promise<NodeStatus> {
      const args = [FAIRLEAD, "agent", "--config", node.configPath, "--status", "--json"];
      const ran = await run(NODE, args, { env: commandEnv(lab().home), timeoutMs: 60_000 });
      if (ran.kind !== "exited" || ran.code !== 0) throw new Error(`--status: ${JSON.stringify(ran)}`);
      return JSON.parse(ran.stdout.toString()) as NodeStatus;
    }

    test("SNAP-9: what the policy allows goes on, and every other action is refused with its code", async () => {
      const { alone } = await status();
      const codes = Object.fromEntries(
        alone.map((gate) => [gate.action, gate.kind === "open" ? "open" : gate.code]),
      );
      const bounded = DEGRADED_ACTIONS.map((action) => [
        action,
        ALLOWED.includes(action) ? "open" : "DEGRADED_NOT_ALLOWED",
      ]);
      const connected = CONNECTED_ACTIONS.map((action) => [action, "DEGRADED_FORBIDDEN"]);
      expect(codes).toEqual(Object.fromEntries([...bounded, ...connected]));
    });

    test("SNAP-9: a running service goes on, also when its agent is killed and comes back alone", async () => {
      await killHard(agent);
      agent = await node.startAgent();
      await eventually("the agent has asked in vain", async () =>
        (await readFile(join(lab().folder, "agent-alone-1.log"), "utf8")).includes("poll failed"),
      );
      expect((await node.running()).instance_id).toBe(instance);
    });

    test("SNAP-9 SNAP-17: when the time is over nothing is allowed, and a clock set back brings none of it back", async () => {
      const started = Date.now();
      const world = { now: started, monotonic: 0 };
      const store = await openCopy(world);
      const ask = async (action: Action) => {
        const answer = createGateKeeper(await store(), createContact(clockOf(world))).ask(action);
        return answer.kind === "open" ? "open" : answer.code;
      };
      expect(await ask("report_status")).toBe("open");

      const opened = await store();
      world.monotonic += OFFLINE_MAX_MS + HOUR_MS;
      world.now = started - 24 * HOUR_MS; // set back while it waits
      expect(await ask("report_status")).toBe("DEGRADED_TIME_OVER");
      await opened.noteWaiting();

      world.monotonic = 0; // and the agent starts again
      const again = await openCopy(world, { fresh: false });
      const after = createGateKeeper(await again(), createContact(clockOf(world))).ask("report_status");
      expect(after).toMatchObject({ kind: "closed", code: "DEGRADED_TIME_OVER" });
    });

    test("SNAP-9: what has expired gives no new authority", async () => {
      const world = { now: Date.now() + 30 * 24 * HOUR_MS, monotonic: 0 };
      const store = await (await openCopy(world))();
      const keeper = createGateKeeper(store, createContact(clockOf(world)));
      expect(keeper.ask("report_status")).toMatchObject({ kind: "closed", code: "DEGRADED_TIME_OVER" });
      expect(keeper.ask("create_service_authority")).toMatchObject({ code: "DEGRADED_FORBIDDEN" });
      const restart = keeper.ask("continue_services");
      expect(restart.kind === "open" && restart.expiredSince! < world.now).toBe(true);
      const frame = await readFile(await bootstrapOf(node));
      expect(await store.apply(frame)).toMatchObject({ kind: "rejected", code: "SNAPSHOT_TIME_REFUSED" });
    });

    const clockOf = (world: { now: number; monotonic: number }) => ({
      now: () => world.now,
      monotonic: () => world.monotonic,
    });

    /** What the node holds, in a folder where a test may let time pass. */
    async function openCopy(world: { now: number; monotonic: number }, { fresh = true } = {}) {
      const folder = join(lab().folder, "copy");
      const identity = Identity.parse(
        JSON.parse(await readFile(join(node.dataDir, "identity", "identity.json"), "utf8")),
      );
      if (fresh) await cp(folderOf(node.dataDir, identity), folder, { recursive: true, force: true });
      const opening = openSnapshotStore(folder, identity, clockOf(world));
      return () => opening;
    }
  });
}

/** The frame of the node's own newest bootstrap: signed, and long expired in the time of the test. */
async function bootstrapOf({ dataDir }: LabNode): Promise<string> {
  const identity = Identity.parse(
    JSON.parse(await readFile(join(dataDir, "identity", "identity.json"), "utf8")),
  );
  const folder = join(folderOf(dataDir, identity), "snapshots");
  const state = JSON.parse(await readFile(join(folder, "state.json"), "utf8")) as {
    state: { scopes: Record<string, { active: { file: string } }> };
  };
  return join(folder, "frames", state.state.scopes["node_bootstrap"]!.active.file);
}
