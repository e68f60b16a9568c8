// `fairlead node profile`, and nodes with several programs in lists and details.

import { describe, expect, test } from "vitest";
import { nodeSample, profileSample, uuid } from "./samples.ts";
import { fairlead, homeFor, refusal, serve, TOKEN_ANSWER } from "./support.ts";

const TWO = nodeSample(1, {
  state: "maintenance",
  profiles: [
    profileSample({ chain_profile_id: "consensus", state: "maintenance" }),
    profileSample({ chain_profile_id: "execution", binary_version: null }),
  ],
});

async function site() {
  const fixture = await serve(({ method, url: { pathname } }) => {
    if (pathname === "/api/v1/auth/token") return TOKEN_ANSWER;
    if (pathname === "/api/v1/nodes") return { json: { nodes: [TWO], next_cursor: null } };
    if (pathname.endsWith("/profiles/relay/remove"))
      return refusal(409, "ROLLOUT_ACTIVE", "a rollout has it");
    return method === "POST" || pathname === `/api/v1/nodes/${uuid(1)}` ? { json: TWO } : undefined;
  });
  return { ...fixture, env: await homeFor(fixture.url) };
}

describe("fairlead node profile", () => {
  test("ROLL-28: add and remove send the profile with the reason, and answer with the node", async () => {
    const { env, asked } = await site();
    const last = () => ({ path: asked.at(-1)!.url.pathname, body: asked.at(-1)!.body });
    const added = await fairlead(["node", "profile", "add", "node-1", "consensus", "--reason", "why"], {
      env,
    });
    expect([added.code, last()]).toEqual([
      0,
      { path: `/api/v1/nodes/${uuid(1)}/profiles`, body: { chain_profile_id: "consensus", reason: "why" } },
    ]);
    expect(added.err).toContain("name it in the agent's config");
    const removed = await fairlead(["node", "profile", "remove", "node-1", "consensus", "--json"], { env });
    expect(last()).toEqual({ path: `/api/v1/nodes/${uuid(1)}/profiles/consensus/remove`, body: {} });
    expect(removed.json()).toMatchObject({ id: uuid(1) });
  });

  test("ROLL-28: a refusal and a wrong action leave with their exit codes", async () => {
    const { env } = await site();
    const refused = await fairlead(["node", "profile", "remove", "node-1", "relay"], { env });
    expect(refused.err).toContain("ROLLOUT_ACTIVE");
    expect(refused.code).not.toBe(0);
    const wrong = await fairlead(["node", "profile", "replace", "node-1", "relay"], { env });
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining("Allowed choices are add, remove")]);
  });

  test("ROLL-28: a list and a node show each program with its version and its state", async () => {
    const { env } = await site();
    const list = await fairlead(["node", "list"], { env });
    expect(list.out).toMatch(/maintenance +consensus, execution +small +1\.0\.0, -/);
    const one = await fairlead(["node", "show", "node-1"], { env });
    expect(one.out).toMatch(/profile +consensus, version 1\.0\.0, maintenance/);
    expect(one.out).toMatch(/profile +execution, version -, active/);
  });
});
