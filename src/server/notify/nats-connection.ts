/**
 * A connection to NATS that says what it could not do.
 *
 * 1. The library would buffer while the server is away, and forget what it buffered when it is given up. Here a lost
 *    connection is lost: whoever publishes keeps his place and asks for a new one.
 * 2. Published is what the server has taken: it answers in order, so its answer to a ping stands for all before it.
 * 3. What it refuses, for want of permission, it says on the side: that is a failure too, not a message told.
 * 4. Where TLS is asked for, a server that offers none is refused before it hears a password.
 */
import { connect, credsAuthenticator, headers, type NatsConnection } from "@nats-io/transport-node";
import { FairleadError } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import { loadKeyFile } from "../identity/key-file.ts";
import { natsTls } from "./nats-tls.ts";
import type { NatsMessage } from "./nats-messages.ts";

export interface NatsTarget {
  /** `nats://host:4222` or `tls://…`, several separated by commas; user and password may stand in the first. */
  readonly url: string;
  readonly credentialsFile: string | undefined;
  /** The authority of its certificate, where that is none that the system trusts. */
  readonly caFile: string | undefined;
}

export interface NatsLink {
  publish(messages: readonly NatsMessage[]): Promise<void>;
  isLost(): boolean;
  close(): Promise<void>;
}

const connectTimeoutMs = 5_000;

export async function openNats({ url, credentialsFile, caFile }: NatsTarget): Promise<NatsLink> {
  const servers = url.split(",").map((text) => new URL(text.trim()));
  const { username, password } = servers[0]!;
  const credentials =
    credentialsFile === undefined ? undefined : Buffer.from(await loadKeyFile(credentialsFile));
  const tls = await natsTls(servers, caFile); // (4)
  const connection = await connect({
    servers: servers.map((server) => server.host),
    name: "fairlead",
    reconnect: false, // (1)
    timeout: connectTimeoutMs,
    ...(tls === null ? {} : { tls }),
    ...(username === "" ? {} : { user: decodeURIComponent(username), pass: decodeURIComponent(password) }),
    ...(credentials === undefined ? {} : { authenticator: credsAuthenticator(credentials) }),
  });
  let refused: Error | null = null;
  void (async () => {
    for await (const status of connection.status()) if (status.type === "error") refused = status.error; // (3)
  })();
  return {
    isLost: () => connection.isClosed(),
    close: () => connection.close(),
    async publish(messages) {
      for (const { id, subject, body } of messages) {
        const head = headers();
        head.set("Nats-Msg-Id", id);
        connection.publish(subject, JSON.stringify(body), { headers: head });
      }
      await taken(connection); // (2)
      if (refused !== null) throw refused;
    },
  };
}

async function taken(connection: NatsConnection): Promise<void> {
  const limit = new AbortController();
  const gone = connection.closed().then(() => "lost" as const);
  const late = new Promise<"late">((done) => {
    const timer = setTimeout(() => done("late"), LIMITS.natsFlushTimeoutMs);
    limit.signal.addEventListener("abort", () => clearTimeout(timer));
  });
  try {
    const how = await Promise.race([connection.flush().then(() => "taken" as const), gone, late]);
    if (how !== "taken") throw new FairleadError("UNREACHABLE", `NATS: ${how}`);
  } finally {
    limit.abort();
  }
}
