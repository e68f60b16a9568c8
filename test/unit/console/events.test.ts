import { describe, expect, it } from "vitest";
import { readEvent } from "../../../src/console/api/events.ts";
import { AT, nodeIdOf } from "./samples.ts";

const wire = (over: Record<string, unknown>) =>
  JSON.stringify({
    id: 7,
    at: AT,
    kind: "rollout.batch",
    rollout_id: null,
    group_id: null,
    node_id: null,
    actor: null,
    data: {},
    ...over,
  });

describe("an event from the stream", () => {
  it("is read into what its kind promises", () => {
    expect(readEvent(wire({ data: { batch: 2 } }))).toMatchObject({
      id: 7,
      kind: "rollout.batch",
      data: { batch: 2 },
    });
  });

  it("keeps the node it is about", () => {
    const data = { status: "succeeded", phase: null, action: null, error: null };
    expect(readEvent(wire({ kind: "node.upgrade", node_id: nodeIdOf(1), data }))).toMatchObject({
      nodeId: nodeIdOf(1),
    });
  });

  it("that a node changed its state is read, so that the fleet is read again", () => {
    const data = { from: "degraded", to: "down", reason: "HEARTBEAT_LOST" };
    expect(readEvent(wire({ kind: "node.state", node_id: nodeIdOf(1), data }))).toMatchObject({
      kind: "node.state",
      nodeId: nodeIdOf(1),
    });
  });

  it.each([
    ["is not JSON", "{"],
    ["has a kind that this page does not know", wire({ kind: "peer.accepted" })],
    ["has a kind that every object has", wire({ kind: "constructor" })],
    ["lacks what its kind promises", wire({ data: {} })],
    [
      "names a status that does not exist",
      wire({ kind: "rollout.status", data: { from: "x", to: "y", why: null } }),
    ],
  ])("is passed over when it %s", (_, text) => {
    expect(readEvent(text)).toBeNull();
  });
});
