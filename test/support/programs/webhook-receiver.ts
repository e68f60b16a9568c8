// A receiver of webhooks: a real HTTP server that keeps what came and answers as it is told.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { until } from "./until.ts";

export interface Received {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** What the next requests are answered; afterwards 200. "hang" never answers. */
  answers: (number | "hang")[];
  headers: Record<string, string>;
  /** Waits for so many in all. */
  got(count: number): Promise<Received[]>;
  close(): Promise<void>;
}

/** On loopback, or on a socket that is known to others by `url`. */
export async function startReceiver(at?: {
  readonly socket: string;
  readonly url: string;
}): Promise<Receiver> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const headers = request.headers as Received["headers"];
      receiver.received.push({ url: request.url ?? "", headers, body: Buffer.concat(chunks).toString() });
      const answer = receiver.answers.shift() ?? 200;
      if (answer !== "hang") response.writeHead(answer, receiver.headers).end("x".repeat(100_000));
    });
  });
  await new Promise<void>((done) => {
    if (at === undefined) server.listen(0, "127.0.0.1", done);
    else server.listen(at.socket, done);
  });
  const receiver: Receiver = {
    url: at?.url ?? `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received: [],
    answers: [],
    headers: {},
    got: (count) =>
      until(`${count} deliveries`, () => receiver.received.length >= count && receiver.received),
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
  return receiver;
}
