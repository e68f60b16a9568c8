/** The address at which Restate reaches this server's handlers: HTTP/2, every call signed by the engine. */
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import * as restate from "@restatedev/restate-sdk";
import type { Logger } from "../../host/log.ts";
import { driveObjects, type Drive } from "./objects.ts";

export interface HandlerEndpoint {
  readonly uri: string;
  readonly services: readonly string[];
  close(): Promise<void>;
}

export interface HandlerOptions {
  readonly listen: { readonly host: string; readonly port: number };
  /** Several servers of this machine share the port; the kernel gives each its part of the connections. */
  readonly reusePort: boolean;
  /** What the engine calls, when that is not where we listen. */
  readonly url: string | undefined;
  readonly identityKey: string | null;
}

export async function serveHandlers(
  drive: Drive,
  { listen, reusePort, url, identityKey }: HandlerOptions,
  log: Logger,
): Promise<HandlerEndpoint> {
  const endpoint = restate.endpoint().setLogger((meta, message, ...rest) => {
    const text = [message, ...(rest as unknown[])].map(String).join(" ").slice(0, 2_000);
    if (["error", "warn"].includes(meta.level)) log.warn("engine handler", { message: text });
  });
  const objects = driveObjects(drive);
  for (const object of objects) endpoint.bind(object);
  if (identityKey !== null) endpoint.withIdentityV1(identityKey);
  const server = createServer(endpoint.http2Handler());
  const sessions = new Set<{ destroy(): void }>();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ ...listen, reusePort }, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    services: objects.map(({ name }) => name),
    uri: url ?? `http://${listen.host.includes(":") ? `[${listen.host}]` : listen.host}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const session of sessions) session.destroy();
      }),
  };
}
