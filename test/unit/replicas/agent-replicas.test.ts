import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { openReplicas } from "../../../src/agent/link/replicas.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

interface Said {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

async function replica(answer: (path: string) => Said | null): Promise<string> {
  const server = createServer((request, response) => {
    const said = answer(request.url!);
    if (said === null) return; // hangs
    response
      .writeHead(said.status, { "content-type": "application/json", ...said.headers })
      .end(JSON.stringify(said.body ?? {}));
  });
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const open = (first: string, ...others: string[]) =>
  openReplicas({ first, others: () => others, tls: undefined, lot: (urls) => urls });
const refusal = (code: string) => ({ status: 503, body: { error: { code, message: code } } });
const nobody = "http://127.0.0.1:1";

test("USE-5: an agent whose replica is away gets its answer from another one, and stays there", async () => {
  let asked = 0;
  const living = await replica(() => ({ status: 200, body: { n: ++asked } }));
  const replicas = open(nobody, living);
  for (const n of [1, 2]) expect(JSON.parse((await replicas.send("/x", {})).body.toString())).toEqual({ n });
  replicas.close();
});

test("USE-5: a replica that lost its lease is left like one that is away", async () => {
  const lapsed = await replica(() => refusal("NOT_READY"));
  const living = await replica(() => ({ status: 200 }));
  const replicas = open(lapsed, living);
  expect((await replicas.send("/x", {})).status).toBe(200);
  replicas.close();
});

test("USE-5: what waits at a replica that turns out to hang moves on with the request that noticed", async () => {
  let hung = 0;
  const hangs = await replica(() => {
    hung += 1;
    return null;
  });
  const living = await replica((path) => ({ status: 200, body: path }));
  const replicas = open(hangs, living);
  const poll = replicas.send("/poll", { timeoutMs: 60_000 });
  await expect.poll(() => hung).toBe(1);
  const report = replicas.send("/report", { timeoutMs: 200 });
  expect(JSON.parse((await report).body.toString())).toBe("/report");
  expect(JSON.parse((await poll).body.toString())).toBe("/poll");
  replicas.close();
});

test("USE-5: a refusal that every replica would repeat is taken from the first", async () => {
  let asked = 0;
  const refuses = await replica(() => ({
    status: 403,
    body: { error: { code: "NODE_REVOKED", message: "no" } },
  }));
  const other = await replica(() => ({ status: 200, body: { n: ++asked } }));
  await expect(open(refuses, other).send("/x", {})).rejects.toMatchObject({ code: "NODE_REVOKED" });
  expect(asked).toBe(0);
});

test("USE-5: when all are away, one that is cut off tells more than those that are silent", async () => {
  const lapsed = await replica(() => refusal("NOT_READY"));
  await expect(open(nobody, lapsed, "http://127.0.0.1:2").send("/x", {})).rejects.toMatchObject({
    code: "NOT_READY",
  });
  await expect(open(nobody).send("/x", {})).rejects.toMatchObject({ code: "UNREACHABLE" });
});

const tooMany = (retryAfter: string) => ({
  status: 429,
  headers: { "retry-after": retryAfter },
  body: { error: { code: "TOO_MANY_REQUESTS", message: "slower" } },
});

test("USE-5: after a 429 an agent sends nothing at all until the time in Retry-After has passed", async () => {
  let now = 1_000;
  const asked: string[] = [];
  const busy = await replica((path) => {
    asked.push(path);
    return asked.length === 1 ? tooMany("1") : { status: 200 };
  });
  const clock = { monotonic: () => now };
  const replicas = openReplicas({
    first: busy,
    others: () => [],
    tls: undefined,
    lot: (urls) => urls,
    clock,
  });
  await expect(replicas.send("/poll", {})).rejects.toMatchObject({ code: "TOO_MANY_REQUESTS" });
  const impatient = new AbortController();
  const held = replicas.send("/heartbeat", { signal: impatient.signal });
  impatient.abort(new Error("the caller has left"));
  await expect(held).rejects.toThrow("the caller has left");
  expect(asked).toEqual(["/poll"]);
  now += 1_000;
  expect((await replicas.send("/report", {})).status).toBe(200);
  expect(asked).toEqual(["/poll", "/report"]);
  replicas.close();
});

test.each(["soon", "-5", "", "Wed, 21 Oct 2026 07:28:00 GMT"])(
  "USE-5: a Retry-After of %j that an agent does not understand holds nothing back",
  async (text) => {
    let asked = 0;
    const busy = await replica(() => (++asked === 1 ? tooMany(text) : { status: 200 }));
    const replicas = open(busy);
    await expect(replicas.send("/x", {})).rejects.toMatchObject({ code: "TOO_MANY_REQUESTS" });
    expect((await replicas.send("/x", {})).status).toBe(200);
    replicas.close();
  },
);

test("USE-5: a server cannot silence an agent for longer than a minute with Retry-After", async () => {
  let now = 0;
  let asked = 0;
  const busy = await replica(() => (++asked === 1 ? tooMany("99999999") : { status: 200 }));
  const clock = { monotonic: () => now };
  const replicas = openReplicas({
    first: busy,
    others: () => [],
    tls: undefined,
    lot: (urls) => urls,
    clock,
  });
  await expect(replicas.send("/x", {})).rejects.toMatchObject({ code: "TOO_MANY_REQUESTS" });
  now = 60_000;
  expect((await replicas.send("/x", {})).status).toBe(200);
  replicas.close();
});
