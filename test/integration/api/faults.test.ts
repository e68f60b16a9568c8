// What a hasty user, an attacker or a bad day brings to the API: a clear code, and nothing written.

import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createApiKey } from "../../../src/server/auth/api-keys.ts";
import { manualRequest, startCreationSite, type CreationSite } from "../../support/server/creation-site.ts";
import { callerOf, tokenOf } from "../../support/server/operators-site.ts";

let site: CreationSite;

beforeAll(async () => {
  site = await startCreationSite();
  await site.addNode("web-1");
});
afterAll(() => site.stop());

describe("signals that come at once", () => {
  const signals = (id: string) => site.db`select 1 from rollout_signals where rollout_id = ${id}`;
  const created = async (): Promise<string> => {
    await site.db`update rollouts set status = 'cancelled'`;
    return ((await site.ask("POST", "/rollouts", manualRequest())).body as { id: string }).id;
  };

  test("ROLL-11: of many starts at once one is stored, and the others are told so", async () => {
    const id = await created();
    const starts = Array.from({ length: 5 }, () => site.ask("POST", `/rollouts/${id}/start`));
    const answers = (await Promise.all(starts)).toSorted((a, b) => a.status - b.status);
    expect(answers.map(({ status }) => status)).toEqual([202, 409, 409, 409, 409]);
    for (const { code } of answers.slice(1)) expect(code).toBe("ILLEGAL_TRANSITION");
    expect(await signals(id)).toHaveLength(1);
  });

  test("ROLL-11: the same wish under one key is one signal, and everybody is told that it is asked for", async () => {
    const id = await created();
    const key = randomUUID();
    const token = await tokenOf(site.app, await createApiKey(site.db, "script", ["admin"]));
    const headers = { "idempotency-key": key };
    const start = () => callerOf(site.app)("POST", `/api/v1/rollouts/${id}/start`, { token, headers });
    const answers = await Promise.all([start(), start(), start()]);
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([202, 202, 202]);
    expect(await signals(id)).toHaveLength(1);
  });
});

test("ROLL-1: a manifest that is an alias bomb creates nothing, and says where its first alias is", async () => {
  const levels = Array.from({ length: 40 }, (_, level) => {
    const ten = Array.from({ length: 10 }, () => `*l${level}`).join(", ");
    return `l${level + 1}: &l${level + 1} [${ten}]`;
  });
  await site.write("upgrades/web/bomb.yaml", ["l0: &l0 [x]", ...levels].join("\n"));
  const before = await site.db`select count(*) from rollouts`;
  const { id, chain_profile_id, node_type, source_version, batch_size } = manualRequest();
  const answer = await site.ask("POST", "/rollouts", {
    id,
    chain_profile_id,
    node_type,
    source_version,
    batch_size,
    upgrade_id: "bomb",
  });
  expect(answer).toMatchObject({ status: 422, code: "MANIFEST_INVALID" });
  expect(answer.message).toContain("upgrades/web/bomb.yaml:2:10: aliases are refused");
  expect(await site.db`select count(*) from rollouts`).toEqual(before);
});

describe("another organization's things", () => {
  beforeAll(async () => {
    for (const name of ["acme", "other"]) await site.ask("PUT", `/model/organizations/${name}`, {});
    const ref = "secret://vault/acme/db";
    await site.ask("PUT", "/model/secret-refs/acme-db", { organization: "acme", ref });
  });
  const service = (organization: string) =>
    site.ask("PUT", "/model/services/reader", { organization, secret_refs: ["acme-db"] });

  test("SNAP-5: a service names its own organization's secret reference, and no other's", async () => {
    const foreign = await service("other");
    expect(foreign).toMatchObject({ status: 400, code: "INVALID_INPUT" });
    expect(foreign.message).toMatch(/^body\.secret_refs: /);
    expect((await site.ask("GET", "/model/services/reader")).code).toBe("NOT_FOUND");
    expect((await service("acme")).status).toBe(201);
  });

  test("SNAP-5: the refusal does not tell whether another organization has it", async () => {
    const nobodys = await site.ask("PUT", "/model/services/reader-2", {
      organization: "other",
      secret_refs: ["nobody-has-it"],
    });
    const foreign = await site.ask("PUT", "/model/services/reader-2", {
      organization: "other",
      secret_refs: ["acme-db"],
    });
    expect(foreign.message?.replace("acme-db", "nobody-has-it")).toBe(nobodys.message);
  });
});
