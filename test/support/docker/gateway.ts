/**
 * The machine's loopback port, led into the lab's network: there a program listens on the loopback of the engine's
 * machine, and the test, which stands for the agent on it, asks its own.
 */
import { connect, createServer, type Socket } from "node:net";

export interface Gateway {
  close(): Promise<void>;
}

/** A connection to a port inside, through the process that listens at `socketPath`. */
function connectInside(socketPath: string, port: number): Socket {
  const inside = connect(socketPath);
  const header = Buffer.alloc(2);
  header.writeUInt16BE(port);
  inside.write(header);
  return inside;
}

export async function openGateway(socketPath: string, port: number, outsidePort = port): Promise<Gateway> {
  const server = createServer((outside) => {
    const inside = connectInside(socketPath, port);
    for (const [one, other] of [
      [outside, inside],
      [inside, outside],
    ] as const) {
      one.on("error", () => other.destroy());
      one.once("close", () => other.destroy());
      one.pipe(other);
    }
  });
  await new Promise<void>((done) => server.listen(outsidePort, "127.0.0.1", done));
  return { close: async () => new Promise((done) => void server.close(() => done())) };
}

/** Whether something answers a request there. */
export async function listensInside(socketPath: string, port: number): Promise<boolean> {
  const inside = connectInside(socketPath, port);
  return new Promise((done) => {
    inside.once("data", () => done(true));
    inside.once("close", () => done(false));
    inside.once("error", () => done(false));
    inside.write("GET / HTTP/1.0\r\n\r\n");
  }).finally(() => inside.destroy()) as Promise<boolean>;
}
