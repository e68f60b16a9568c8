/**
 * The least HTTP client that does the job, over one mutual-TLS connection that stays open. A generator that costs more
 * than the server it loads would measure itself.
 */
import { connect, type TLSSocket } from "node:tls";
import type { EnrolledNode } from "./enroll.ts";

export interface Reply {
  readonly status: number;
  readonly body: Buffer;
}

export interface Wire {
  /** One request at a time. */
  send(request: Buffer): Promise<Reply>;
  close(): void;
}

const EMPTY = Buffer.alloc(0);
const HEAD_END = "\r\n\r\n";
const CONNECT_TIMEOUT_MS = 60_000;

export function postRequest(path: string, json: unknown): Buffer {
  const body = Buffer.from(JSON.stringify(json));
  const head = `POST ${path} HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\ncontent-length: ${body.length}${HEAD_END}`;
  return Buffer.concat([Buffer.from(head, "latin1"), body]);
}

export async function openWire(url: string, { key, cert, ca }: EnrolledNode): Promise<Wire> {
  const { hostname: host, port } = new URL(url);
  const socket = connect({ host, port: Number(port), key, cert, ca, minVersion: "TLSv1.3" });
  await connected(socket, url);
  let kept: Buffer = EMPTY;
  let waiting: { resolve: (reply: Reply) => void; reject: (error: Error) => void } | null = null;

  function fail(error: Error): void {
    waiting?.reject(error);
    waiting = null;
  }
  socket.setNoDelay(true);
  socket.on("error", fail);
  socket.on("close", () => fail(new Error("the server closed the connection")));
  socket.on("data", (chunk: Buffer) => {
    kept = afterInterim(kept.length === 0 ? chunk : Buffer.concat([kept, chunk]));
    const reply = readReply(kept);
    if (reply === null) return;
    kept = EMPTY;
    const { resolve } = waiting!;
    waiting = null;
    resolve(reply);
  });

  return {
    close: () => void socket.destroy(),
    send: (request) =>
      new Promise((resolve, reject) => {
        if (socket.destroyed) return reject(new Error("the connection is closed"));
        waiting = { resolve, reject };
        socket.write(request);
      }),
  };
}

function connected(socket: TLSSocket, url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => socket.destroy(new Error(`${url}: no handshake in time`)),
      CONNECT_TIMEOUT_MS,
    );
    socket.once("error", reject);
    socket.once("secureConnect", () => {
      clearTimeout(timer);
      socket.off("error", reject);
      resolve();
    });
  });
}

/** A poll that waits is answered `102 Processing` now and then, so that the agent knows that somebody is there. */
function afterInterim(bytes: Buffer): Buffer {
  const end = bytes.indexOf(HEAD_END);
  if (end === -1 || bytes.toString("latin1", 9, 10) !== "1") return bytes;
  return afterInterim(bytes.subarray(end + HEAD_END.length));
}

/** Null while the reply is incomplete. Our server and Fastify name the length of every body. */
function readReply(bytes: Buffer): Reply | null {
  const end = bytes.indexOf(HEAD_END);
  if (end === -1) return null;
  const status = Number(bytes.toString("latin1", 9, 12));
  if (status === 204) return { status, body: EMPTY };
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(bytes.toString("latin1", 0, end))?.[1] ?? 0);
  const from = end + HEAD_END.length;
  return bytes.length < from + length ? null : { status, body: bytes.subarray(from, from + length) };
}
