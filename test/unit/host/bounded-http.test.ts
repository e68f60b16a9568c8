import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { createHttpClient, type HttpClient, jsonOf } from "../../../src/host/bounded-http.ts";
import { temporaryFolder } from "./temporary-folder.ts";

async function serve(
  answer: RequestListener,
): Promise<{ client: HttpClient; origin: string; server: Server }> {
  const server = createServer(answer);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = createHttpClient({ origin });
  onTestFinished(() => {
    client.close();
    server.closeAllConnections();
    server.close();
  });
  return { client, origin, server };
}

test("JSON goes out and comes back, over one kept connection", async () => {
  const sockets = new Set<unknown>();
  const { client } = await serve((request, response) => {
    sockets.add(request.socket);
    request.pipe(response.setHeader("x-method", request.method ?? ""));
  });
  for (let count = 0; count < 3; count += 1) {
    const response = await client.request("/echo", { method: "POST", json: { count } });
    expect([response.status, response.headers["x-method"], jsonOf(response)]).toEqual([
      200,
      "POST",
      { count },
    ]);
  }
  expect(sockets.size).toBe(1);
});

test("an answer that is not JSON is UNREACHABLE, not a crash", async () => {
  const { client } = await serve((_, response) => response.end("<html>"));
  expect(() => jsonOf({ status: 200, headers: {}, body: Buffer.from("<html>") })).toThrow("not JSON");
  expect((await client.request("/")).body.toString()).toBe("<html>");
});

test("a redirect is an answer like any other: nobody follows it", async () => {
  const { client } = await serve((_, response) =>
    response.writeHead(302, { location: "http://169.254.169.254/" }).end(),
  );
  expect(await client.request("/")).toMatchObject({ status: 302 });
});

test.each([["//evil.example/x"], ["http://evil.example/"], ["http://127.0.0.1:1/"]])(
  "a path that leads to another origin is refused: %s",
  async (path) => {
    const { client } = await serve((_, response) => response.end());
    await expect(client.request(path)).rejects.toMatchObject({ code: "INVALID_INPUT" });
  },
);

test("an answer above its bound is cut off, announced or not", async () => {
  const { client } = await serve((request, response) => {
    if (request.url === "/announced") response.setHeader("content-length", 11);
    response.write("12345");
    response.end("678901");
  });
  for (const path of ["/announced", "/chunked"]) {
    await expect(client.request(path, { maxResponseBytes: 10 })).rejects.toMatchObject({
      code: "PAYLOAD_TOO_LARGE",
    });
    expect((await client.request(path, { maxResponseBytes: 11 })).body.toString()).toBe("12345678901");
  }
});

test("a HEAD may announce more than its bound: no body follows", async () => {
  const { client } = await serve((_, response) => response.setHeader("content-length", 1_000).end());
  const { status, headers } = await client.request("/", { method: "HEAD", maxResponseBytes: 10 });
  expect([status, headers["content-length"]]).toEqual([200, "1000"]);
});

test("a server that never answers, or drips for ever, is a TIMEOUT", async () => {
  const { client } = await serve((request, response) => {
    if (request.url === "/silent") return;
    const timer = setInterval(() => response.write("."), 20);
    response.once("close", () => clearInterval(timer));
  });
  for (const path of ["/silent", "/drip"]) {
    await expect(client.request(path, { timeoutMs: 150 })).rejects.toMatchObject({ code: "TIMEOUT" });
  }
});

test("nobody listening is UNREACHABLE, and the caller's own abort comes back as it is", async () => {
  const gone = createHttpClient({ origin: "http://127.0.0.1:1" });
  await expect(gone.request("/")).rejects.toMatchObject({
    code: "UNREACHABLE",
    detail: { cause: "ECONNREFUSED" },
  });
  const { client } = await serve(() => undefined);
  const abort = new AbortController();
  const reason = new Error("changed my mind");
  setTimeout(() => abort.abort(reason), 30);
  await expect(client.request("/", { signal: abort.signal })).rejects.toBe(reason);
});

test("a kept connection that died is replaced for a GET and told for a POST", async () => {
  let requests = 0;
  const { client } = await serve((request, response) => {
    requests += 1;
    if (requests % 2 === 1) response.end("ok");
    else request.socket.destroy();
  });
  expect((await client.request("/")).status).toBe(200);
  expect((await client.request("/")).status).toBe(200);
  expect(requests).toBe(3);
  await expect(client.request("/", { method: "POST", json: {} })).rejects.toMatchObject({
    code: "UNREACHABLE",
  });
  expect(requests).toBe(4);
});

test("a reader that pauses beyond the idle timeout still gets the whole download", async () => {
  const size = 3_000_000;
  const idleTimeoutMs = 60_000;
  const { client } = await serve((_, response) => response.end(Buffer.alloc(size, 1)));
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const { status, body } = await client.stream("/", { maxResponseBytes: size, idleTimeoutMs });
  let received = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    if (received === 0) {
      while (body.readableLength < body.readableHighWaterMark) await setImmediate(); // the response is paused
      vi.advanceTimersByTime(3 * idleTimeoutMs);
    }
    received += chunk.length;
  }
  expect([status, received]).toEqual([200, size]);
});

test("a download that is too long, falls silent or breaks off fails with its code", async () => {
  const { client } = await serve((request, response) => {
    response.write("12345");
    if (request.url === "/long") response.end("678901");
    if (request.url === "/broken") setTimeout(() => request.socket.destroy(), 20);
  });
  const read = async (path: string): Promise<void> => {
    const { body } = await client.stream(path, { maxResponseBytes: 10, idleTimeoutMs: 100 });
    for await (const chunk of body) expect(chunk).toBeDefined();
  };
  await expect(read("/long")).rejects.toMatchObject({ code: "PAYLOAD_TOO_LARGE" });
  await expect(read("/silent")).rejects.toMatchObject({ code: "TIMEOUT" });
  await expect(read("/broken")).rejects.toMatchObject({ code: "UNREACHABLE" });
});

test("a unix socket serves as well, and a missing one is UNREACHABLE", async () => {
  const socketPath = join(await temporaryFolder(), "s");
  const server = createServer((request, response) => response.end(request.url));
  await new Promise<void>((done) => server.listen(socketPath, done));
  const client = createHttpClient({ origin: "http://localhost", socketPath });
  expect((await client.request("/health?x=1")).body.toString()).toBe("/health?x=1");
  client.close();
  await new Promise((done) => server.close(done));
  await expect(client.request("/health")).rejects.toMatchObject({ code: "UNREACHABLE" });
});
