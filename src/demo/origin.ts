/** Where the demo's artifacts come from: a small HTTP server on loopback that knows nothing but its programs. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Origin {
  readonly url: string;
  close(): void;
}

export async function serveArtifacts(files: ReadonlyMap<string, Buffer>): Promise<Origin> {
  const server = createServer((request, response) => {
    const bytes = files.get((request.url ?? "").slice(1));
    if (bytes === undefined) return response.writeHead(404).end();
    return response
      .writeHead(200, { "content-type": "application/octet-stream", "content-length": bytes.length })
      .end(bytes);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
