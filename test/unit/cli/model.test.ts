import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { NODE } from "../../support/trust-names.ts";
import { fairlead, homeFor, serve, temporaryFolder, TOKEN_ANSWER, type Asked } from "./support.ts";
import { nodeSample } from "./samples.ts";

const NODES = { json: { nodes: [nodeSample(1, { id: NODE, name: "edge-1" })], next_cursor: null } };
const MEMBERSHIP = {
  node_id: NODE,
  node_name: "edge-1",
  roles: ["thin"],
  organizations: ["acme"],
  peer_address: "a:1",
};

async function site(answer: (asked: Asked) => object | undefined) {
  const server = await serve((asked) => {
    if (asked.url.pathname === "/api/v1/auth/token") return TOKEN_ANSWER;
    if (asked.url.pathname === "/api/v1/nodes") return NODES;
    const json = answer(asked);
    return json === undefined ? undefined : { json };
  });
  return { env: await homeFor(server.url), asked: server.asked };
}

const written = async (text: string): Promise<string> => {
  const file = join(await temporaryFolder(), "spec.yaml");
  await writeFile(file, text);
  return file;
};

describe("model set (USE-2)", () => {
  test("SNAP-5: a secret in the file never leaves the machine", async () => {
    const { env, asked } = await site(() => undefined);
    const file = await written("organization: acme\ndescription: '-----BEGIN PRIVATE KEY-----'\n");
    const ran = await fairlead(["model", "set", "service", "web", "--file", file], { env });
    expect(ran.code).toBe(8);
    expect(ran.err).toContain("error SNAPSHOT_SECRET_FOUND: ");
    expect(ran.err).toContain("description looks like a PEM private key");
    expect(asked).toEqual([]);
  });

  test("USE-2: a mistake is shown with its line and column, before anything is asked", async () => {
    const { env, asked } = await site(() => undefined);
    const file = await written("organization: acme\nresources: [not a ref]\n");
    const ran = await fairlead(["model", "set", "service", "web", "--file", file], { env });
    expect([ran.code, asked]).toEqual([3, []]);
    expect(ran.err).toContain("spec.yaml:2:13: resources.0: not a kind:name reference");
  });

  test("USE-2: the spec comes from one place, and a name or kind that is none is a usage error", async () => {
    const { env } = await site(() => undefined);
    const wrong = [
      ["model", "set", "service", "web"],
      ["model", "set", "service", "web", "--file", "x", "--json-body", "{}"],
      ["model", "set", "planet", "web", "--json-body", "{}"],
      ["model", "show", "service", "../etc"],
      ["revocation", "lift", "twelve"],
      ["revocation", "add", "signing_key", "x"],
      ["snapshot", "show", "edge-1", "everything"],
      ["snapshot", "show", "edge-1", "route_policy", "--frame"],
    ];
    for (const argv of wrong) expect([argv, (await fairlead(argv, { env })).code]).toEqual([argv, 2]);
  });

  test("USE-2: what is shown is the YAML that sets it again", async () => {
    const spec = { organization: "acme", ref: "secret://vault/db" };
    const view = { id: NODE, name: "db", changed_at: "2026-01-31T12:00:00.000Z", spec };
    const { env, asked } = await site(() => view);
    const shown = await fairlead(["model", "show", "secret-ref", "db"], { env });
    expect(shown.out).toBe("organization: acme\nref: secret://vault/db\n");
    await fairlead(["model", "set", "secret-ref", "db", "--file", await written(shown.out)], { env });
    expect(asked.at(-1)).toMatchObject({
      method: "PUT",
      url: { pathname: "/api/v1/model/secret-refs/db" },
      body: spec,
    });
  });
});

describe("node set (SNAP-4)", () => {
  test("SNAP-4: what is not named stays as it is, and an empty list or none takes away", async () => {
    const { env, asked } = await site(() => MEMBERSHIP);
    const puts = () => asked.filter(({ method }) => method === "PUT").map(({ body }) => body);
    const { node_id: _id, node_name: _name, ...whole } = MEMBERSHIP;
    await fairlead(["node", "set", "edge-1", "--roles", "ingress, thin"], { env });
    await fairlead(["node", "set", "edge-1", "--organizations", "", "--peer-address", "none"], { env });
    expect(puts()).toEqual([
      { ...whole, roles: ["ingress", "thin"] },
      { ...whole, organizations: [], peer_address: null },
    ]);
    const king = await fairlead(["node", "set", "edge-1", "--roles", "king"], { env });
    expect(king.code).toBe(2);
    expect(king.err).toContain("--roles: ");
  });
});

describe("revocation (SNAP-10)", () => {
  test("SNAP-10: a peer is named by people and taken back by id", async () => {
    const view = {
      seq: 3,
      kind: "peer",
      subject: NODE,
      subject_name: "edge-1",
      node_id: null,
      node_name: null,
      reason: "stolen",
      actor: "key:boss",
      created_at: "2026-01-31T12:00:00.000Z",
    };
    const { env, asked } = await site(({ method }) =>
      method === "POST" ? view : { revocations: [view], next_cursor: null },
    );
    const added = await fairlead(["revocation", "add", "peer", "edge-1", "--reason", "stolen"], { env });
    expect(added.out).toContain("revocation 3: peer edge-1 is taken back from every node");
    expect(asked.at(-1)!.body).toEqual({ kind: "peer", subject: NODE, node_id: null, reason: "stolen" });
    const now = () => Date.parse("2026-01-31T12:01:00.000Z");
    expect((await fairlead(["revocation", "list"], { env, now })).out).toMatch(
      /3 +peer +edge-1 +every node +1m 00s ago +key:boss +stolen/,
    );
    expect((await fairlead(["revocation", "add", "role_assignment", "king"], { env })).code).toBe(2);
  });
});
