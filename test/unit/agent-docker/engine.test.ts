import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { type Engine, openEngine } from "../../../src/agent/upgrade/adapters/docker/engine.ts";
import { pullImage } from "../../../src/agent/upgrade/adapters/docker/pull.ts";
import { Digest } from "../../../src/core/ids.ts";
import { type Answer, badEngine, type BadEngine, chunk, chunked, http, LAST_CHUNK } from "./bad-engine.ts";

const NEVER = new AbortController().signal;
const LIMITS = { timeoutMs: 300, changeTimeoutMs: 300, maxResponseBytes: 64 * 1024 };
const Anything = z.object({ Id: z.string() });
const REFERENCE = { repository: "registry.test/hello", digest: Digest.parse(`sha256:${"a".repeat(64)}`) };

describe("the engine's client", () => {
  let bad: BadEngine | undefined;
  afterEach(async () => bad?.close());

  async function engineThat(answer: Answer, version?: string | null): Promise<Engine> {
    bad = await badEngine(answer, version === undefined ? {} : { version });
    return openEngine(bad.socketPath, LIMITS);
  }
  const write =
    (...parts: readonly string[]): Answer =>
    (_, socket) => {
      for (const part of parts) socket.write(part);
    };
  const endless =
    (head: string, more: string): Answer =>
    (_, socket) => {
      socket.write(head);
      const pour = (): void => {
        while (socket.writable && socket.write(more));
        if (socket.writable) socket.once("drain", pour);
      };
      pour();
    };

  it("reads an answer, and asks for the agreed version in the path", async () => {
    const engine = await engineThat((request, socket) =>
      socket.write(http("200 OK", JSON.stringify({ Id: request }))),
    );
    expect(await engine.get("/things/json", Anything)).toEqual({ Id: "GET /v1.41/things/json" });
  });

  it.each([
    ["RUNTIME_UNRESPONSIVE", "never answers", () => undefined],
    ["RUNTIME_UNRESPONSIVE", "drips", endlessDrip],
    [
      "PAYLOAD_TOO_LARGE",
      "announces too much",
      write("HTTP/1.1 200 OK\r\ncontent-length: 99999999\r\n\r\n{"),
    ],
    ["PAYLOAD_TOO_LARGE", "never ends", endless(chunked(), chunk("x".repeat(8_000)))],
    ["RUNTIME_UNRESPONSIVE", "sends a chunk of no length", write(chunked(), "zz\r\n{}\r\n")],
    ["RUNTIME_UNRESPONSIVE", "breaks off", (_, socket) => socket.end(`${chunked()}${chunk('{"Id":')}`)],
    [
      "RUNTIME_UNRESPONSIVE",
      "sends a header without end",
      endless("HTTP/1.1 200 OK\r\nx: ", "y".repeat(8_000)),
    ],
    ["RUNTIME_UNRESPONSIVE", "sends what is not HTTP", write("SSH-2.0-OpenSSH_9.2\r\n")],
    ["RUNTIME_UNRESPONSIVE", "sends what is not JSON", write(http("200 OK", '{"Id": '))],
    ["RUNTIME_UNRESPONSIVE", "sends another shape", write(http("200 OK", '{"Id": 7}'))],
    ["RUNTIME_UNRESPONSIVE", "sends nothing at all", write(http("200 OK", ""))],
    ["ACTION_FAILED", "fails", write(http("500 Internal Server Error", '{"message":"disk\\nfull"}'))],
  ] as [string, string, Answer][])("gives %s when the engine %s", async (code, _, answer) => {
    const engine = await engineThat(answer);
    await expect(engine.get("/things/json", Anything)).rejects.toMatchObject({ code });
  });

  it("knows a thing that is not there", async () => {
    const engine = await engineThat(write(http("404 Not Found", '{"message":"no such thing"}')));
    expect(await engine.get("/things/json", Anything)).toBeNull();
    await expect(engine.change({ method: "DELETE", path: "/things/1" })).rejects.toMatchObject({
      code: "ACTION_FAILED",
    });
    expect((await engine.change({ method: "DELETE", path: "/things/1", fine: [404] })).status).toBe(404);
  });

  it("marks a change whose answer never came: nobody may simply repeat it", async () => {
    const engine = await engineThat(() => undefined);
    await expect(engine.change({ method: "POST", path: "/things" })).rejects.toMatchObject({
      code: "RUNTIME_UNRESPONSIVE",
      detail: { change: "POST /things" },
    });
  });

  it("asks for nothing once its caller has given up", async () => {
    const asked: string[] = [];
    const engine = await engineThat((request) => void asked.push(request));
    await expect(
      engine.change({ method: "POST", path: "/things" }, AbortSignal.abort(new Error("enough"))),
    ).rejects.toThrow("enough");
    expect(asked).toEqual([]);
  });

  it.each([
    ["too old an engine", '{"ApiVersion":"1.24","MinAPIVersion":"1.12"}', "ACTION_FAILED"],
    ["too new an engine", '{"ApiVersion":"1.99","MinAPIVersion":"1.60"}', "ACTION_FAILED"],
    ["a version that is none", '{"ApiVersion":"1.41/../..","MinAPIVersion":"1.12"}', "RUNTIME_UNRESPONSIVE"],
    ["no version", "{}", "RUNTIME_UNRESPONSIVE"],
    ["no JSON", "<html>", "RUNTIME_UNRESPONSIVE"],
  ])("speaks to no engine with %s", async (_, version, code) => {
    const engine = await engineThat(write(http("200 OK", '{"Id":"1"}')), version);
    await expect(engine.get("/things/json", Anything)).rejects.toMatchObject({ code });
  });

  it("speaks an older version of ours to a newer engine", async () => {
    const version = '{"ApiVersion":"1.51","MinAPIVersion":"1.44"}';
    const engine = await engineThat(
      (request, socket) => socket.write(http("200 OK", JSON.stringify({ Id: request }))),
      version,
    );
    expect(await engine.get("/x", Anything)).toEqual({ Id: "GET /v1.47/x" });
  });

  it("ROLL-8: pulls by digest, and a failure at the end of the stream is one", async () => {
    const asked: string[] = [];
    const engine = await engineThat((request, socket) => {
      asked.push(request);
      socket.write(
        chunked() +
          chunk('{"status":"Pulling","id":"a","progressDetail":{"total":10}}\n') +
          chunk('{"error":"manifest\\nunknown"}\r\n') +
          LAST_CHUNK,
      );
    });
    await expect(pullImage(engine, REFERENCE, { signal: NEVER })).rejects.toMatchObject({
      code: "ARTIFACT_UNREACHABLE",
      message: expect.stringContaining("manifest unknown") as string,
    });
    expect(asked).toEqual([
      `POST /v1.41/images/create?fromImage=registry.test%2Fhello&tag=sha256%3A${"a".repeat(64)}`,
    ]);
  });

  it.each([
    [
      "ARTIFACT_TOO_LARGE",
      "announces too much",
      [
        chunk('{"id":"a","progressDetail":{"total":600}}\n'),
        chunk('{"id":"b","progressDetail":{"total":600}}\n'),
      ],
    ],
    ["RUNTIME_UNRESPONSIVE", "tells what is not JSON", [chunk("{status: done}\n")]],
    ["RUNTIME_UNRESPONSIVE", "tells another shape", [chunk('{"progressDetail":{"total":"much"}}\n')]],
    ["RUNTIME_UNRESPONSIVE", "sends a chunk of no length", ["zz\r\n"]],
    ["PAYLOAD_TOO_LARGE", "tells a line without end", [chunk("x".repeat(70_000))]],
  ])("gives %s when a pull %s", async (code, _, parts) => {
    const engine = await engineThat(write(chunked(), ...parts));
    await expect(pullImage(engine, REFERENCE, { signal: NEVER, bytesMax: 1_000 })).rejects.toMatchObject({
      code,
    });
  });

  it("ends a pull when its caller gives up", async () => {
    const enough = new AbortController();
    const engine = await engineThat((_, socket) => {
      socket.write(chunked() + chunk('{"status":"Pulling"}\n'));
      setImmediate(() => enough.abort(new Error("enough")));
    });
    await expect(pullImage(engine, REFERENCE, { signal: enough.signal })).rejects.toThrow("enough");
  });

  it("refuses a pull that the engine refuses", async () => {
    const engine = await engineThat(write(http("404 Not Found", '{"message":"pull access denied"}')));
    await expect(pullImage(engine, REFERENCE, { signal: NEVER })).rejects.toMatchObject({
      code: "ARTIFACT_UNREACHABLE",
      message: expect.stringContaining("pull access denied") as string,
    });
  });
});

function endlessDrip(_: string, socket: Parameters<Answer>[1]): void {
  socket.write(chunked());
  const drip = setInterval(() => (socket.writable ? socket.write(chunk(" ")) : clearInterval(drip)), 20);
}
