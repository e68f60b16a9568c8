/**
 * The snapshot side of a real agent: the agent's own store, which verifies each frame and writes it to disk before it
 * counts, over the same connection as a simulated one. Only programs, commands and heartbeats are left out.
 */
import { LIMITS } from "../../src/core/limits.ts";
import { PollResponse } from "../../src/core/protocol/agent-api.ts";
import type { SnapshotHeader } from "../../src/core/snapshot/envelope.ts";
import { openSnapshotStore } from "../../src/agent/snapshots/store.ts";
import type { Identity } from "../../src/agent/identity/store.ts";
import { systemClock } from "../../src/host/clock.ts";
import { postRequest, type Wire } from "../support/wire.ts";

type Admit = NonNullable<Parameters<Awaited<ReturnType<typeof openSnapshotStore>>["apply"]>[1]>;

const connected: Admit = async () => ({ kind: "open" });

/** Runs until its connection ends. `waiting` is called when it has nothing left to fetch, `applied` for each snapshot. */
export async function runVerifyingAgent(
  wire: Wire,
  folder: string,
  identity: Identity,
  waiting: () => void,
  applied: (header: Pick<SnapshotHeader, "scope_type" | "config_version">) => void,
): Promise<void> {
  const store = await openSnapshotStore(folder, identity, systemClock);
  for (let fetched = false; ;) {
    const asked = wire.send(
      postRequest("/agent/v1/poll", {
        have: store.versions(),
        command_mark: 0,
        head_issued_at: store.headIssuedAt(),
        resync: store.resync(),
        wait_ms: LIMITS.pollWaitMaxMs,
      }),
    );
    if (fetched) waiting();
    const reply = await asked;
    if (reply.status === 204) continue;
    if (reply.status !== 200)
      throw new Error(`HTTP ${reply.status}: ${reply.body.toString("utf8").slice(0, 300)}`);
    const { snapshots, increments, head } = PollResponse.parse(JSON.parse(reply.body.toString("utf8")));
    fetched = true;
    const bytes = (frame: string) => Buffer.from(frame, "base64");
    for (const frame of snapshots) taken(await store.apply(bytes(frame), connected));
    if (head !== null) await store.takeHead(bytes(head));
    for (const frame of increments) taken(await store.applyIncrement(bytes(frame), connected));
  }

  function taken(result: Awaited<ReturnType<typeof store.apply>>): void {
    if (result.kind === "rejected")
      throw new Error(`refused: ${result.code} ${result.field}: ${result.reason}`);
    applied(result.header);
  }
}
