import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Below those that the system gives to outgoing connections: a program that is started again finds its port still free. */
const [FIRST, END] = [20_000, 32_000];
const given = new Set<number>();

/** A port that was free a moment ago, and is given to nobody else here. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, END);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((done) => {
    const server = createServer();
    server.once("error", () => done(false));
    server.listen(port, "127.0.0.1", () => server.close(() => done(true)));
  });
}
