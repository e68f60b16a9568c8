/** Serves bytes by path on loopback. */
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

export interface ArtifactServer {
  readonly origin: string;
  readonly requests: string[];
  put(path: string, bytes: Uint8Array | string | RequestListener): void;
  close(): Promise<void>;
}

export async function artifactServer(): Promise<ArtifactServer> {
  const files = new Map<string, Uint8Array | string | RequestListener>();
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url!);
    const file = files.get(request.url!);
    if (typeof file === "function") file(request, response);
    else if (file === undefined) response.writeHead(404).end();
    else response.end(file);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    put: (path, bytes) => void files.set(path, bytes),
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
