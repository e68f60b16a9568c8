// Config files on their way to agents: a node gets its own, and nobody else's.

import Fastify from "fastify";
import { afterAll, beforeAll, expect, test } from "vitest";
import { NodeId } from "../../../src/core/ids.ts";
import { registerAgentRoutes } from "../../../src/server/agents/routes.ts";
import { digestOf } from "../../../src/trust/digest.ts";
import {
  manifestYaml,
  manualRequest,
  startCreationSite,
  type CreationSite,
} from "../../support/server/creation-site.ts";

let site: CreationSite;
const agents = Fastify();

beforeAll(async () => {
  site = await startCreationSite();
  agents.decorateRequest("nodeId", "" as NodeId);
  agents.addHook("onRequest", async (request) => {
    request.nodeId = NodeId.parse(request.headers["x-node"]);
  });
  registerAgentRoutes(agents, { db: site.db } as never);
});
afterAll(async () => {
  await agents.close();
  await site.stop();
});

test("ROLL-17: a node may fetch the files that were rendered for it, and not its neighbour's", async () => {
  const [first, second, stranger] = [
    await site.addNode("n1"),
    await site.addNode("n2"),
    await site.addNode("n3", { version: "0.9.0" }),
  ];
  const config_changes = [
    { path: "own", template: { inline: "{{ node.name }}" } },
    { path: "all", content: "for all" },
  ];
  await site.write("upgrades/web/v2.yaml", manifestYaml({ config_changes }));
  const { id, chain_profile_id, node_type, source_version, batch_size } = manualRequest();
  const request = { id, chain_profile_id, node_type, source_version, batch_size, upgrade_id: "v2" };
  expect((await site.ask("POST", "/rollouts", request)).status).toBe(201);
  const fetched = async (node: NodeId, content: string) => {
    const url = `/agent/v1/blobs/${digestOf(content)}`;
    const answer = await agents.inject({ method: "GET", url, headers: { "x-node": node } });
    return answer.statusCode === 200 ? answer.body : answer.statusCode;
  };
  expect([await fetched(first, "n1"), await fetched(second, "n2"), await fetched(second, "for all")]).toEqual(
    ["n1", "n2", "for all"],
  );
  const refused = [
    await fetched(first, "n2"),
    await fetched(second, "n1"),
    await fetched(stranger, "for all"),
  ];
  expect(refused.every((answer) => typeof answer === "number" && answer >= 400)).toBe(true);
});
