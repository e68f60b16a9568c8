// Events as a browser and the CLI read them: from where they stopped, then live, and no more than they can take.

import { request as httpRequest, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { RolloutId } from "../../../src/core/ids.ts";
import type { RolloutView } from "../../../src/core/protocol/operator-api.ts";
import { FairleadError } from "../../../src/core/errors.ts";
import { createApiKey } from "../../../src/server/auth/api-keys.ts";
import type { Database } from "../../../src/server/db/database.ts";
import { appendEvents } from "../../../src/server/events/append.ts";
import { openEventStream, type EventStream } from "../../../src/server/events/stream.ts";
import { startTestDatabases, type TestDatabases } from "../../support/database.ts";
import {
  initializeSite,
  makeSite,
  newId,
  operatorsDeps,
  startOperators,
  type Site,
} from "../../support/server/site.ts";

let databases: TestDatabases;
let db: Database;
let site: Site;
let app: FastifyInstance;
let stream: EventStream;
let open: number;
let token: string;
let base: string;
const rolloutId = newId() as RolloutId;

beforeAll(async () => {
  databases = await startTestDatabases();
});
afterAll(async () => databases.stop());
beforeEach(async () => {
  ({ db } = await databases.fresh());
  site = await makeSite(db);
  await initializeSite(db, site);
  stream = await openEventStream(db);
  open = 0;
  const deps = await operatorsDeps(db, site);
  app = await startOperators(db, site, {
    rollouts: {
      ...deps.rollouts,
      get: async (id) => {
        if (id !== rolloutId) throw new FairleadError("NOT_FOUND", "no such rollout");
        return {} as RolloutView;
      },
    },
    events: {
      async *subscribe(filter, signal, isAllowed) {
        open++;
        try {
          yield* stream.subscribe(filter, signal, isAllowed);
        } finally {
          open--;
        }
      },
    },
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  base = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  const api_key = await createApiKey(db, "boss", ["admin"]);
  token = (await app.inject({ method: "POST", url: "/api/v1/auth/token", payload: { api_key } })).json<{
    token: string;
  }>().token;
  await db`truncate events restart identity`; // without the sign-in's own
});
afterEach(async () => {
  await app.close();
  await stream.close();
  await site.remove();
});

const append = (count: number, rollout_id: string | null = rolloutId, padding = "") =>
  db.begin((tx) =>
    appendEvents(
      tx,
      Array.from({ length: count }, (_, i) => ({
        kind: "rollout.batch",
        rollout_id,
        data: { batch: i, padding },
      })),
    ),
  );

interface Reader {
  readonly response: IncomingMessage;
  readonly ids: number[];
  text(): string;
  close(): void;
}

function read(path: string, headers: Record<string, string> = {}): Promise<Reader> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      `${base}${path}`,
      { headers: { authorization: `Bearer ${token}`, ...headers } },
      (response) => {
        let text = "";
        const ids: number[] = [];
        response.setEncoding("utf8");
        response.on("error", () => undefined);
        response.on("data", (chunk: string) => {
          text += chunk;
          ids.length = 0;
          ids.push(...[...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id)));
        });
        resolve({ response, ids, text: () => text, close: () => request.destroy() });
      },
    );
    request.on("error", reject);
    request.end();
  });
}

test("a rollout's stream begins with its first event and goes on live, one message per event", async () => {
  await append(2);
  await append(1, newId());
  const reader = await read(`/api/v1/rollouts/${rolloutId}/events`);
  expect(reader.response.headers["content-type"]).toBe("text/event-stream");
  expect(reader.response.headers["content-security-policy"]).toContain("default-src 'self'");
  await expect.poll(() => reader.ids).toEqual([1, 2]);
  await append(1);
  await expect.poll(() => reader.ids).toEqual([1, 2, 4]);
  expect(reader.text()).toMatch(
    /^id: 1\nevent: rollout\.batch\ndata: \{"id":1,"at":"[^"]+","kind":"rollout\.batch"/,
  );
  reader.close();
});

test("a reader that comes back names its last event and misses none", async () => {
  await append(5);
  const byHeader = await read(`/api/v1/rollouts/${rolloutId}/events?after=1`, { "last-event-id": "3" });
  await expect.poll(() => byHeader.ids).toEqual([4, 5]);
  const byQuery = await read(`/api/v1/rollouts/${rolloutId}/events?after=2`);
  await expect.poll(() => byQuery.ids).toEqual([3, 4, 5]);
  byHeader.close();
  byQuery.close();
});

test("the stream of everything is live unless it is asked for the past", async () => {
  await append(2);
  const live = await read("/api/v1/events");
  const past = await read("/api/v1/events?after=0");
  await expect.poll(() => past.ids).toEqual([1, 2]);
  await append(1, null);
  await expect.poll(() => live.ids).toEqual([3]);
  live.close();
  past.close();
});

test("a reader that asks for JSON gets the stream all the same; HEAD gets none", async () => {
  const reader = await read("/api/v1/events", { accept: "application/json" });
  expect(reader.response.statusCode).toBe(200);
  reader.close();
  const head = await app.inject({
    method: "HEAD",
    url: "/api/v1/events",
    headers: { authorization: `Bearer ${token}` },
  });
  expect(head.statusCode).toBe(404);
});

test("a rollout that is not there and an id that is no number are errors, not streams", async () => {
  const missing = await app.inject({
    url: `/api/v1/rollouts/${newId()}/events`,
    headers: { authorization: `Bearer ${token}` },
  });
  expect(missing.json()).toMatchObject({ error: { code: "NOT_FOUND" } });
  const odd = await app.inject({
    url: "/api/v1/events?after=-1",
    headers: { authorization: `Bearer ${token}` },
  });
  expect(odd.json()).toMatchObject({ error: { code: "INVALID_INPUT" } });
});

test("a reader that leaves ends its subscription, also one that stopped reading", async () => {
  const gone = await read("/api/v1/events");
  await expect.poll(() => open).toBe(1);
  gone.close();
  await expect.poll(() => open).toBe(0);

  await append(400, rolloutId, "x".repeat(100_000));
  const slow = await read("/api/v1/events?after=0");
  slow.response.pause();
  await expect.poll(() => open).toBe(1);
  slow.close();
  await expect.poll(() => open, { timeout: 10_000 }).toBe(0);
});

test("a closing server ends its streams instead of waiting for their readers", async () => {
  const reader = await read("/api/v1/events");
  const ended = new Promise<void>((done) => reader.response.once("close", () => done()));
  await app.close();
  await ended;
  await expect.poll(() => open).toBe(0);
});

const ended = (reader: Reader) =>
  new Promise<void>((done) => {
    if (reader.response.closed) return done();
    reader.response.once("close", () => done());
  });

test("the stream of a revoked API key ends without another event, and that of another key goes on", async () => {
  const api_key = await createApiKey(db, "guest", ["admin"]);
  const answer = await app.inject({ method: "POST", url: "/api/v1/auth/token", payload: { api_key } });
  const guest = { authorization: `Bearer ${answer.json<{ token: string }>().token}` };
  const [all, ofRollout] = [
    await read("/api/v1/events?after=0", guest),
    await read(`/api/v1/rollouts/${rolloutId}/events`, guest),
  ];
  const other = await read("/api/v1/events?after=0");
  await append(1);
  for (const reader of [all, ofRollout, other])
    await expect.poll(() => reader.text()).toContain("rollout.batch");
  const [before, beforeOfRollout] = [all.ids.length, ofRollout.ids.length];
  const keys = await app.inject({ url: "/api/v1/api-keys", headers: { authorization: `Bearer ${token}` } });
  const { id } = keys
    .json<{ keys: { id: string; name: string }[] }>()
    .keys.find(({ name }) => name === "guest")!;
  await app.inject({
    method: "POST",
    url: `/api/v1/api-keys/${id}/revoke`,
    headers: { authorization: `Bearer ${token}` },
  });
  await append(1);
  await Promise.all([ended(all), ended(ofRollout)]);
  expect([all.ids.length, ofRollout.ids.length]).toEqual([before, beforeOfRollout]);
  await expect.poll(() => other.text()).toContain("api_key.revoked");
  expect(other.response.closed).toBe(false);
  other.close();
});
