// Revoked artifacts and runs on a real database: no rollout of them is made, and none that was made before is launched.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { NodeId } from "../../../src/core/ids.ts";
import { REVOKES_BYTES } from "../../../src/core/protocol/agent-protocol.ts";
import type { RolloutView } from "../../../src/core/protocol/operator-api.ts";
import { HeadContent } from "../../../src/core/snapshot/head.ts";
import { createDeliveryFinder } from "../../../src/server/agents/deliveries.ts";
import { headReader } from "../../../src/server/agents/heads.ts";
import { createRevokedReader } from "../../../src/server/agents/revoked.ts";
import { createBundleReader } from "../../../src/server/snapshots/bundles.ts";
import { decodeFrame } from "../../../src/trust/frame.ts";
import { runDigest } from "../../../src/trust/intent.ts";
import { openPage } from "../../../src/trust/revocation-page.ts";
import { parseCanonical } from "../../../src/trust/strict-json.ts";
import { RunSpec } from "../../../src/core/upgrade/job.ts";
import { manualRequest } from "../../support/server/creation-site.ts";
import { startDrivenSite, type DrivenSite } from "../../support/server/driven-site.ts";
import { fingerprint } from "../../support/trust.ts";

let here: DrivenSite;
beforeAll(async () => void (here = await startDrivenSite()));
afterAll(() => here.stop());

async function wished(profile: string, nodes = 2, changes: object = {}) {
  const ids: NodeId[] = [];
  for (let n = 0; n < nodes; n++) ids.push(await here.addNode(`${profile}-${n}`, { profile }));
  const request = manualRequest({
    chain_profile_id: profile,
    batch_size: nodes,
    health_wait_seconds: 0,
    target_binary_checksum: fingerprint(profile),
    run: { args: [`--for=${profile}`] },
    ...changes,
  });
  return { ids, request, create: () => here.ask("POST", "/rollouts", request) };
}

const runOf = (profile: string) => runDigest(RunSpec.parse({ args: [`--for=${profile}`] }));
const revoke = async (kind: string, subject: string, node_id: NodeId | null = null) => {
  const made = await here.ask("POST", "/revocations", { kind, subject, node_id, reason: "it corrupts" });
  expect(made.status).toBe(201);
  return made.body as { seq: number; subject: string };
};
const start = async (id: string) => {
  await here.ask("POST", `/rollouts/${id}/start`, {});
  await here.settle();
};

test.each([
  ["artifact", "create-a", fingerprint("create-a")],
  ["run", "create-r", runOf("create-r")],
])(
  "SNAP-10: a rollout of a revoked %s is not created, and is created once the revocation is lifted",
  async (kind, profile, subject) => {
    const { create } = await wished(profile);
    const { seq } = await revoke(kind, subject);
    expect(await create()).toMatchObject({
      status: 409,
      code: "AUTHORITY_REVOKED",
      message: `${kind} ${subject} is revoked for every node (revocation ${seq})`,
    });
    expect((await here.ask("DELETE", `/revocations/${seq}`)).status).toBe(204);
    expect((await create()).status).toBe(201);
  },
);

test("SNAP-10: an artifact that is revoked for one node keeps that node from a rollout, and no other", async () => {
  const { ids, create, request } = await wished("one-node");
  await revoke("artifact", fingerprint("one-node"), ids[1]);
  expect(await create()).toMatchObject({ code: "AUTHORITY_REVOKED", message: /for node one-node-1/ });
  const others = { ...request, node_ids: [ids[0]] };
  expect((await here.ask("POST", "/rollouts", others)).status).toBe(201);
});

test.each(["artifact", "run"])(
  "SNAP-10: a rollout that names a %s stands for it: revoked by the rollout, nothing of it is launched",
  async (kind) => {
    const profile = `launch-${kind}`;
    const { create, ids } = await wished(profile);
    const { id } = (await create()).body as RolloutView;
    const made = await revoke(kind, id);
    expect(made.subject).toBe(kind === "artifact" ? fingerprint(profile) : runOf(profile));
    await start(id);
    const rows = await here.db<{ status: string; error_code: string }[]>`
      select status, error_code from rollout_nodes where rollout_id = ${id}`;
    expect(rows).toEqual(ids.map(() => ({ status: "failed", error_code: "AUTHORITY_REVOKED" })));
    expect(await here.db`select 1 from commands where node_id = any(${ids})`).toEqual([]);
    const [event] = await here.db<{ actor: string; data: object }[]>`
      select actor, data from events where kind = 'authority.revoked' order by id desc limit 1`;
    expect(event).toMatchObject({ data: { kind, subject: made.subject, reason: "it corrupts" } });
    expect(event!.actor).toMatch(/^key:/);
  },
);

test("SNAP-10: one node for which the artifact is revoked fails, and the others of its batch are launched", async () => {
  const { create, ids } = await wished("one-fails", 3);
  const { id } = (await create()).body as RolloutView;
  await revoke("artifact", fingerprint("one-fails"), ids[1]);
  await start(id);
  const commands = await here.db<
    { node_id: NodeId }[]
  >`select node_id from commands where rollout_id = ${id}`;
  expect(new Set(commands.map(({ node_id }) => node_id))).toEqual(new Set([ids[0], ids[2]]));
});

test("SNAP-10: a rollback to a revoked artifact is not launched", async () => {
  const { create, ids } = await wished("back", 1);
  const { id } = (await create()).body as RolloutView;
  await start(id);
  await here.report(id);
  expect(await here.statusesOf(id)).toEqual(["succeeded"]);
  const [before] = await here.db<{ previous_checksum: string }[]>`
    select previous_checksum from rollout_nodes where rollout_id = ${id}`;
  await revoke("artifact", before!.previous_checksum, ids[0]);
  await here.ask("POST", `/rollouts/${id}/rollback`, { reason: "slow" });
  await here.settle();
  const rows = await here.db`select status, error_code from rollout_nodes where rollout_id = ${id}`;
  expect(rows).toEqual([{ status: "failed_rollback", error_code: "AUTHORITY_REVOKED" }]);
});

test("SNAP-10: heads name revoked artifacts and runs to agents that read them, and leave them out for older agents", async () => {
  const nodeId = await here.addNode("reader-0", { profile: "reader" });
  await revoke("artifact", fingerprint("reader"));
  await revoke("service_assignment", "reader", nodeId);
  const find = createDeliveryFinder(
    here.db,
    createBundleReader(here.db, () => performance.now()),
    here.authority,
  );
  const headFor = async (capabilities: string[] | undefined) => {
    const reader = headReader(capabilities);
    const query = { nodeId, have: {}, serials: {}, headIssuedAt: null, resync: [], mark: 0, reader };
    const { head } = (await find(query)).answer!;
    return HeadContent.parse(parseCanonical(decodeFrame(Buffer.from(head!, "base64")).content)).revoked;
  };
  const artifact = { kind: "artifact", id: fingerprint("reader") };
  const service = { kind: "service_assignment", id: "reader" };
  expect(await headFor([REVOKES_BYTES])).toEqual(expect.arrayContaining([artifact, service]));
  for (const older of [undefined, ["something_else"]]) {
    const named = await headFor(older);
    expect(named).toContainEqual(service);
    expect(named.filter(({ kind }) => kind === "artifact" || kind === "run")).toEqual([]);
  }
});

test("SNAP-10: pages of both forms are served, and an older agent's hold no kind that it cannot read", async () => {
  const nodeId = await here.addNode("pages-0", { profile: "pages" });
  await here.db`
    insert into authority_revocations (kind, subject, node_id, actor)
    select case when n % 2 = 0 then 'peer' else 'artifact' end, 'p' || n, ${nodeId}, 'key:boss'
    from generate_series(1, 1400) as n`;
  const revoked = createRevokedReader(here.db);
  const time = await revoked.read([nodeId]);
  for (const reader of ["newer", "older"] as const) {
    const { pages, rest } = time.paged(nodeId, reader);
    const served = await Promise.all(
      pages.map(async ({ digest }) => openPage(digest, await revoked.page(nodeId, digest))),
    );
    const own = [...served.flatMap((page) => page!), ...rest].filter(({ id }) => id.startsWith("p"));
    expect(own).toHaveLength(reader === "newer" ? 1400 : 700);
  }
});
