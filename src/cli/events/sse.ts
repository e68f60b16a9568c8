/**
 * Server-sent events, as the HTML standard parses them, with a bound.
 *
 * 1. A chunk may end anywhere: inside a line, inside a character, between CR and LF.
 * 2. What has not ended within the bound is an error, not memory.
 * 3. A message cut off by the end of the stream never happened.
 */
import { FairleadError } from "../../core/errors.ts";

export interface SseMessage {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

const MESSAGE_CHARS_MAX = 1024 * 1024;

export async function* parseSse(
  chunks: AsyncIterable<Uint8Array>,
  charsMax = MESSAGE_CHARS_MAX,
): AsyncGenerator<SseMessage> {
  const decoder = new TextDecoder("utf-8");
  const message = collector(charsMax);
  let rest = "";
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true }); // (1)
    let from = 0;
    for (let end = lineEnd(rest, from); end !== undefined; end = lineEnd(rest, from)) {
      const whole = message.take(rest.slice(from, end.at));
      from = end.next;
      if (whole !== undefined) yield whole;
    }
    rest = rest.slice(from);
    if (rest.length > charsMax) throw tooLong(charsMax); // (2)
  }
}

/** A CR at the very end may be half of a CR LF: it waits for what follows. */
function lineEnd(text: string, from: number): { at: number; next: number } | undefined {
  const [lf, cr] = [text.indexOf("\n", from), text.indexOf("\r", from)];
  if (cr === -1 || (lf !== -1 && lf < cr)) return lf === -1 ? undefined : { at: lf, next: lf + 1 };
  if (cr === text.length - 1) return undefined;
  return { at: cr, next: text[cr + 1] === "\n" ? cr + 2 : cr + 1 };
}

function collector(charsMax: number) {
  let [id, event] = ["", ""];
  let data: string[] = [];
  let chars = 0;

  function dispatch(): SseMessage | undefined {
    const whole =
      data.length === 0 ? undefined : { id, event: event === "" ? "message" : event, data: data.join("\n") };
    event = "";
    data = [];
    chars = 0;
    return whole;
  }

  return {
    take(line: string): SseMessage | undefined {
      if (line === "") return dispatch();
      const colon = line.indexOf(":");
      if (colon === 0) return undefined; // a comment, such as the server's ping
      const field = colon === -1 ? line : line.slice(0, colon);
      const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
      if (field === "event") event = value;
      else if (field === "id" && !value.includes("\0")) id = value;
      else if (field === "data") {
        chars += value.length;
        if (chars > charsMax) throw tooLong(charsMax); // (2)
        data.push(value);
      }
      return undefined;
    },
  };
}

const tooLong = (charsMax: number): FairleadError =>
  new FairleadError("INTERNAL", `the server sent an event longer than ${charsMax} characters`);
