/** A socket that answers each request with the bytes it is given, right or wrong. */
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type Answer = (request: string, socket: Socket) => void;

export interface BadEngine {
  readonly socketPath: string;
  close(): Promise<void>;
}

const VERSION: string | null = JSON.stringify({ ApiVersion: "1.41", MinAPIVersion: "1.12" });

/** `/version` is answered well unless `answer` shall have it too. */
export async function badEngine(
  answer: Answer,
  { version = VERSION }: { readonly version?: string | null } = {},
): Promise<BadEngine> {
  const folder = await mkdtemp(join(tmpdir(), "fairlead-engine-"));
  const socketPath = join(folder, "engine.sock");
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("data", (bytes) => {
      const request = bytes.toString("latin1").split(" HTTP/")[0]!;
      if (version !== null && request === "GET /version") socket.write(http("200 OK", version));
      else answer(request, socket);
    });
  });
  await new Promise<void>((done) => server.listen(socketPath, done));
  return {
    socketPath,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((done) => server.close(done));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export const http = (status: string, body: string): string =>
  `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

export const chunked = (status = "200 OK"): string =>
  `HTTP/1.1 ${status}\r\ntransfer-encoding: chunked\r\n\r\n`;
export const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
export const LAST_CHUNK = "0\r\n\r\n";
