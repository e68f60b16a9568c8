/** Runs inside the lab's network: takes connections at a unix socket and hands them to a port on that loopback. */
import { connect, createServer } from "node:net";

const PORT_BYTES = 2;

createServer((outside) => {
  outside.on("error", () => outside.destroy());
  outside.once("readable", () => {
    const port = (outside.read(PORT_BYTES) as Buffer | null)?.readUInt16BE();
    if (port === undefined) {
      outside.destroy();
      return;
    }
    const inside = connect(port, "127.0.0.1");
    inside.on("error", () => outside.destroy());
    outside.once("close", () => inside.destroy());
    inside.once("close", () => outside.destroy());
    outside.pipe(inside).pipe(outside);
  });
}).listen(process.argv[2]);
