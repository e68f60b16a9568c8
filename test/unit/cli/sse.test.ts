import { assert, asyncProperty, integer, uniqueArray } from "fast-check";
import { describe, expect, test } from "vitest";
import { parseSse, type SseMessage } from "../../../src/cli/events/sse.ts";

async function parsed(chunks: readonly (string | Uint8Array)[], charsMax?: number): Promise<SseMessage[]> {
  async function* bytes() {
    for (const chunk of chunks) yield typeof chunk === "string" ? Buffer.from(chunk) : chunk;
  }
  const messages: SseMessage[] = [];
  for await (const message of parseSse(bytes(), charsMax)) messages.push(message);
  return messages;
}

const TEXT =
  ': ping\n\nid: 7\nevent: node.upgrade\ndata: {"näme":"λ",\ndata: "b":1}\n\nid: 8\r\ndata: x\r\n\r\ndata:y\n\n';
const MESSAGES = [
  { id: "7", event: "node.upgrade", data: '{"näme":"λ",\n"b":1}' },
  { id: "8", event: "message", data: "x" },
  { id: "8", event: "message", data: "y" },
];

describe("the event stream's parser (USE-2)", () => {
  test("reads id, event and data of several lines, and passes over comments", async () => {
    expect(await parsed([TEXT])).toEqual(MESSAGES);
  });

  test("gives the same messages wherever the bytes are cut, inside a character too", async () => {
    const bytes = Buffer.from(TEXT);
    const cuts = uniqueArray(integer({ min: 1, max: bytes.length - 1 }), { maxLength: 12 });
    await assert(
      asyncProperty(cuts, async (at) => {
        const edges = [0, ...at.toSorted((a, b) => a - b), bytes.length];
        const chunks = edges.slice(1).map((end, index) => bytes.subarray(edges[index], end));
        expect(await parsed(chunks)).toEqual(MESSAGES);
      }),
    );
  });

  test("drops a message that the end of the stream cut off", async () => {
    expect(await parsed(["data: whole\n\ndata: half\n"])).toEqual([
      { id: "", event: "message", data: "whole" },
    ]);
  });

  test("ignores unknown fields, an id with NUL, and messages without data", async () => {
    expect(await parsed(["id: a\0b\nretry: 5\nbogus\n\nevent: e\n\ndata\n\n"])).toEqual([
      { id: "", event: "message", data: "" },
    ]);
  });

  test("refuses a line that never ends, and a message that never ends, within their bound", async () => {
    await expect(parsed(["data: ".padEnd(50, "x"), "y".repeat(60)], 100)).rejects.toThrow("longer than 100");
    await expect(
      parsed(
        Array.from({ length: 20 }, () => "data: 0123456789\n"),
        100,
      ),
    ).rejects.toThrow("longer than 100");
    expect(
      await parsed(
        Array.from({ length: 20 }, () => "data: 0123456789\n\n"),
        100,
      ),
    ).toHaveLength(20);
  });
});
