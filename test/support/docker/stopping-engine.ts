/**
 * A socket in front of the engine's that stops the world at one request: before it reaches the engine, or after the
 * engine has done it and before anyone hears of it.
 */
import { createServer, request as send, type RequestOptions } from "node:http";
import { rm } from "node:fs/promises";

export interface StopPoint {
  /** Of `METHOD /path` without the API's version. */
  readonly at: RegExp;
  readonly when: "before" | "after";
  /** What comes afterwards passes: only that one answer never comes. */
  readonly once?: boolean;
}

export interface StoppingEngine {
  /** Resolves when the point is reached. */
  readonly reached: Promise<void>;
  /** Every change that passed, in order. */
  readonly changes: string[];
  close(): Promise<void>;
}

export async function stoppingEngine(
  socketPath: string,
  enginePath: string,
  point?: StopPoint,
): Promise<StoppingEngine> {
  const changes: string[] = [];
  const stopped = Promise.withResolvers<void>();
  let isStopped = false;
  const stop = (): void => {
    isStopped = true;
    stopped.resolve();
  };

  const server = createServer((incoming, outgoing) => {
    const name = `${incoming.method} ${incoming.url!.replace(/^\/v1\.\d+/, "")}`;
    if (incoming.method !== "GET") changes.push(name);
    const isIt = point?.at.test(name) === true && !isStopped;
    if ((isStopped && point?.once !== true) || (isIt && point.when === "before")) return stop();
    const { method, headers, url: path } = incoming;
    const options: RequestOptions = { socketPath: enginePath, method, headers, path, agent: false };
    const passed = send(options, (answer) => {
      if (isIt) return answer.resume().once("end", stop);
      outgoing.writeHead(answer.statusCode!, answer.headers);
      return answer.pipe(outgoing);
    });
    passed.on("error", () => outgoing.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((done) => server.listen(socketPath, done));
  return {
    reached: stopped.promise,
    changes,
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
      await rm(socketPath, { force: true });
    },
  };
}
