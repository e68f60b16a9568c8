/** Runs in the hub: hands connections to a port there on to a socket of the test's. */
import { connect, createServer } from "node:net";

const [address, port, socketPath] = process.argv.slice(2);

createServer((outside) => {
  const inside = connect(socketPath!);
  for (const [one, other] of [
    [outside, inside],
    [inside, outside],
  ] as const) {
    one.on("error", () => other.destroy());
    one.once("close", () => other.destroy());
    one.pipe(other);
  }
}).listen(Number(port), address);
