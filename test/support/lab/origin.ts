/** Where the lab's artifacts come from. It counts who came, and can let everyone wait: then a batch is surely under way. */
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { helloProgram } from "../../../src/demo/hello-program.ts";
import { digestOf } from "../../../src/trust/digest.ts";

export interface Published {
  readonly version: string;
  readonly url: string;
  readonly checksum: string;
}

export interface PublishOptions {
  /** Its name at the origin. */
  readonly as?: string;
  /** Other bytes than the hello program's. */
  readonly program?: string;
  /** What really comes, when it is not what is signed. */
  readonly served?: string;
}

export type LabOrigin = Awaited<ReturnType<typeof labOrigin>>;

export async function labOrigin() {
  const files = new Map<string, Buffer>();
  const requests: string[] = [];
  const waiting = new Set<() => void>();
  let held = false;
  const serve: RequestListener = (request, response) => {
    const path = request.url!;
    requests.push(path);
    const answer = (): void => {
      const bytes = files.get(path);
      if (bytes === undefined) response.writeHead(404).end();
      else response.end(bytes);
    };
    if (held) waiting.add(answer);
    else answer();
  };
  const servers = [createServer(serve)];
  const [server] = servers as [Server];
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  let url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    get url() {
      return url;
    },
    requests,
    /** From now on it is known by another address, which leads to this socket. */
    async offerAt(socketPath: string, as: string): Promise<void> {
      const another = createServer(serve);
      servers.push(another);
      await new Promise<void>((done) => another.listen(socketPath, done));
      url = as;
    },
    publish(version: string, options: PublishOptions = {}): Published {
      const { as = `hello-${version}`, program = helloProgram(version), served = program } = options;
      files.set(`/${as}`, Buffer.from(served));
      return { version, url: `${url}/${as}`, checksum: digestOf(program) };
    },
    hold: () => void (held = true),
    waiting: () => waiting.size,
    release(): void {
      held = false;
      for (const answer of waiting) answer();
      waiting.clear();
    },
    async close(): Promise<void> {
      for (const each of servers) {
        each.closeAllConnections();
        await new Promise((done) => each.close(done));
      }
    },
  };
}
