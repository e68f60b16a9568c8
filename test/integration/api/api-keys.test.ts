// API keys by the API: made, listed and revoked, and what a revoked one is worth.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  ApiKeyCreated,
  ApiKeyList,
  ApiKeyView,
  type ApiKeyCreate,
} from "../../../src/core/protocol/api-key-api.ts";
import { createApiKey } from "../../../src/server/auth/api-keys.ts";
import { hashSecret } from "../../../src/server/auth/secrets.ts";
import {
  callerOf,
  errorOf,
  startOperatorsSite,
  tokenOf,
  type OperatorsSite,
} from "../../support/server/operators-site.ts";
import { newId } from "../../support/server/site.ts";
import { atOnce } from "../../support/server/at-once.ts";

const PATH = "/api/v1/api-keys";
let here: OperatorsSite;
let call: ReturnType<typeof callerOf>;
let boss: string;

beforeAll(async () => {
  here = await startOperatorsSite();
  call = callerOf(here.app);
});
afterAll(() => here.stop());
beforeEach(async () => {
  await here.db`delete from api_keys`;
  boss = await tokenOf(here.app, await createApiKey(here.db, "boss", ["admin"]));
});

const make = (wish: Partial<ApiKeyCreate> & object, token = boss) =>
  call("POST", PATH, { token, payload: { scopes: [], ...wish } });
const made = async (name: string, scopes: ApiKeyCreate["scopes"] = []) =>
  ApiKeyCreated.parse((await make({ name, scopes })).json());
const revoke = (id: string, payload?: object, token = boss) =>
  call("POST", `${PATH}/${id}/revoke`, { token, ...(payload === undefined ? {} : { payload }) });
const list = async () => ApiKeyList.parse((await call("GET", PATH, { token: boss })).json()).keys;
const bossId = async () => (await list()).find(({ name }) => name === "boss")!.id;

describe("making", () => {
  test("the key is answered once, and neither it nor its hash is shown again", async () => {
    const { key, api_key } = await made("ann", ["admin"]);
    expect(key).toMatchObject({ name: "ann", scopes: ["admin"], revoked_at: null });
    const token = await tokenOf(here.app, api_key);
    expect((await call("GET", PATH, { token })).statusCode).toBe(200);
    const listed = (await call("GET", PATH, { token: boss })).body;
    expect(listed).toContain(key.id);
    expect(listed).not.toContain(api_key);
    expect(listed).not.toContain(hashSecret(api_key));
    const [event] = await here.db`select * from events where kind = 'api_key.created'`;
    expect(event).toMatchObject({ actor: "key:boss", data: { name: "ann", scopes: ["admin"] } });
    expect(JSON.stringify(event)).not.toContain(api_key);
  });

  test("a key without scopes signs in and may do nothing, least of all make another", async () => {
    const token = await tokenOf(here.app, (await made("guest")).api_key);
    expect((await call("GET", "/api/v1/whoami", { token })).statusCode).toBe(200);
    expect(errorOf(await make({ name: "more", scopes: ["admin"] }, token)).code).toBe("FORBIDDEN");
    expect((await list()).map(({ name }) => name)).toEqual(["boss", "guest"]);
  });

  test.each([
    ["a scope that does not exist", { name: "ann", scopes: ["root"] }],
    ["a name that is no name", { name: "../ann" }],
    ["no name", {}],
    ["a hash of one's own", { name: "ann", key_hash: "0" }],
  ])("%s is refused", async (_what, wish) => {
    expect(errorOf(await make(wish as never)).code).toBe("INVALID_INPUT");
    expect(await list()).toHaveLength(1);
  });

  test("no two keys in use share a name, also when both are asked for at once", async () => {
    const both = await atOnce(
      here.db,
      (tx) => tx`lock table api_keys in share row exclusive mode`,
      [1, 2].map(() => () => make({ name: "ann" })),
    );
    expect(both.map(({ statusCode }) => String(statusCode)).toSorted()).toEqual(["201", "400"]);
    const ann = (await list()).find(({ name }) => name === "ann")!;
    await revoke(ann.id);
    expect((await make({ name: "ann" })).statusCode).toBe(201);
  });

  test("the list comes in pages", async () => {
    for (const name of ["ann", "bob", "cid"]) await made(name);
    const page = async (query: string) =>
      ApiKeyList.parse((await call("GET", `${PATH}?limit=2${query}`, { token: boss })).json());
    const first = await page("");
    const second = await page(`&cursor=${first.next_cursor}`);
    expect([...first.keys, ...second.keys].map(({ name }) => name)).toEqual(["ann", "bob", "boss", "cid"]);
    expect(second.next_cursor).toBeNull();
  });
});

describe("revoking", () => {
  test("tokens that the key gave, and its sessions and links, are refused at once; others stay", async () => {
    const { key, api_key } = await made("leaver", ["admin"]);
    const token = await tokenOf(here.app, api_key);
    const link = async () =>
      (await call("POST", "/api/v1/auth/sign-in-link", { token })).json<{ url: string }>();
    const open = async (url: string) =>
      call("POST", "/api/v1/auth/session", { payload: { code: url.split("#code=")[1] } });
    const cookie = String((await open((await link()).url)).headers["set-cookie"]).split(";")[0]!;
    const inConsole = () => call("GET", "/api/v1/nodes", { headers: { cookie } });
    const unused = (await link()).url;
    expect((await inConsole()).statusCode).toBe(200);

    const answer = await revoke(key.id, { reason: "left" });
    expect(ApiKeyView.parse(answer.json()).revoked_at).not.toBeNull();
    expect(errorOf(await call("GET", "/api/v1/nodes", { token })).code).toBe("TOKEN_INVALID");
    expect(errorOf(await inConsole()).code).toBe("UNAUTHENTICATED");
    expect(errorOf(await open(unused)).code).toBe("TOKEN_INVALID");
    expect(errorOf(await call("POST", "/api/v1/auth/token", { payload: { api_key } })).code).toBe(
      "UNAUTHENTICATED",
    );
    expect((await call("GET", "/api/v1/nodes", { token: boss })).statusCode).toBe(200);
    const events = await here.db`select actor, data from events where kind = 'api_key.revoked'`;
    expect(events.at(-1)).toMatchObject({ actor: "key:boss", data: { name: "leaver", reason: "left" } });
  });

  test("a session that slipped in beside the revocation is worth nothing either", async () => {
    const { key, api_key } = await made("leaver", ["admin"]);
    const token = await tokenOf(here.app, api_key);
    const { url } = (await call("POST", "/api/v1/auth/sign-in-link", { token })).json<{ url: string }>();
    await here.db`update api_keys set revoked_at = now() where id = ${key.id}`;
    const code = url.split("#code=")[1];
    const opened = await call("POST", "/api/v1/auth/session", { payload: { code } });
    const cookie = String(opened.headers["set-cookie"]).split(";")[0]!;
    expect(errorOf(await call("GET", "/api/v1/nodes", { headers: { cookie } })).code).toBe("UNAUTHENTICATED");
  });

  test("asking twice is one revocation", async () => {
    const { key } = await made("leaver");
    const first = ApiKeyView.parse((await revoke(key.id)).json());
    expect(ApiKeyView.parse((await revoke(key.id)).json())).toEqual(first);
    const told = await here.db`select 1 from events where data->>'api_key_id' = ${key.id}`;
    expect(told).toHaveLength(2);
  });

  test("the last key with admin stays unless it is forced, whatever others there are", async () => {
    await made("guest");
    const { key: second } = await made("second", ["admin"]);
    await revoke(second.id);
    const id = await bossId();
    for (const wish of [undefined, {}, { force: false }]) {
      const refused = await revoke(id, wish);
      expect([refused.statusCode, errorOf(refused).code]).toEqual([409, "LAST_ADMIN_KEY"]);
    }
    expect((await call("GET", PATH, { token: boss })).statusCode).toBe(200);
    expect((await revoke(id, { force: true })).statusCode).toBe(200);
    expect(errorOf(await call("GET", PATH, { token: boss })).code).toBe("TOKEN_INVALID");
  });

  test("one of two administrators revokes himself; of two who revoke each other at once, one stays", async () => {
    const { key: second, api_key } = await made("second", ["admin"]);
    const other = await tokenOf(here.app, api_key);
    const id = await bossId();
    const both = await atOnce(here.db, (tx) => tx`select 1 from api_keys for update`, [
      () => revoke(second.id, {}, boss),
      () => revoke(id, {}, other),
    ]);
    expect(both.filter(({ statusCode }) => statusCode === 200)).toHaveLength(1);
    const live = await here.db`select 1 from api_keys where revoked_at is null and 'admin' = any(scopes)`;
    expect(live).toHaveLength(1);
  });

  test("an unknown key is NOT_FOUND, and a user without scope revokes nobody", async () => {
    expect(errorOf(await revoke(newId())).code).toBe("NOT_FOUND");
    const guest = await tokenOf(here.app, (await made("guest")).api_key);
    expect(errorOf(await revoke(await bossId(), { force: true }, guest)).code).toBe("FORBIDDEN");
  });
});
