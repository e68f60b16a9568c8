// What a step hands over is what it has committed.

import { afterAll, beforeAll, expect, test } from "vitest";
import type { NodeId, RolloutId } from "../../../src/core/ids.ts";
import { PollResponse } from "../../../src/core/protocol/agent-api.ts";
import type { MerkleProof } from "../../../src/core/protocol/intent.ts";
import type { RolloutView } from "../../../src/core/protocol/operator-api.ts";
import type { Parcels } from "../../../src/server/rollout/parcel.ts";
import { joinFrame } from "../../../src/trust/frame.ts";
import { manualRequest } from "../../support/server/creation-site.ts";
import { startDrivenSite, type DrivenSite } from "../../support/server/driven-site.ts";

const PROFILE = "handed-over";

let here: DrivenSite;
let id: RolloutId;
let nodes: NodeId[];
let parcels: Parcels;

beforeAll(async () => {
  here = await startDrivenSite();
  nodes = [];
  for (const name of ["a", "b"]) nodes.push(await here.addNode(`handed-${name}`, { profile: PROFILE }));
  const request = manualRequest({
    chain_profile_id: PROFILE,
    strategy: "all_at_once",
    health_wait_seconds: 0,
  });
  const { body } = await here.ask("POST", "/rollouts", request);
  id = (body as RolloutView).id;
  await here.ask("POST", `/rollouts/${id}/start`, {});
  await here.db`
    insert into authority_revocations (kind, subject, node_id, actor)
    values ('degraded_permission', 'continue_services', ${nodes[1]!}, 'test')`;
  await here.step(id, { from: "this replica", deliver: (handed) => void (parcels = handed) });
});
afterAll(() => here.stop());

test("ROLL-11: a step hands over the assignment and the command that it has committed, byte for byte", async () => {
  const [node] = nodes;
  const [command] = await here.db<{ frame: Buffer; sequence: number }[]>`
    select frame, sequence from commands where node_id = ${node!}`;
  const [snapshot] = await here.db<{ header: Buffer; bytes: Buffer; signatures: Buffer; version: number }[]>`
    select s.header, c.bytes, s.signatures, s.config_version as version
    from snapshots s join snapshot_contents c using (content_hash)
    where s.node_id = ${node!} and s.scope_type = 'service_assignment'`;
  const [row] = await here.db<{ proof: MerkleProof }[]>`
    select proof from rollout_proofs where rollout_id = ${id} and node_id = ${node!}`;
  const { header, bytes, signatures, version } = snapshot!;
  const parcel = parcels.get(node!)!;
  expect(parcel).toMatchObject({ version, sequence: command!.sequence });
  expect(PollResponse.parse(JSON.parse(Buffer.from(parcel.answer).toString("utf8")))).toEqual({
    snapshots: [joinFrame(header, bytes, signatures).toString("base64")],
    increments: [],
    head: null,
    commands: [{ command: command!.frame.toString("base64"), intent: null, proof: row!.proof }],
    void_intents: [],
  });
});

test("SNAP-10: a node of which something was just revoked is told that there is news, and has to be looked up", () => {
  expect([...parcels.keys()].toSorted()).toEqual(nodes.toSorted());
  expect(parcels.get(nodes[1]!)).toBeNull();
});
