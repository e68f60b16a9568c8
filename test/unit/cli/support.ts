/** The CLI in this process, with its streams caught; and a small real HTTP server that answers what a test says. */
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { contextStore, type Context, type Pins } from "../../../src/cli/context.ts";
import { ClusterId } from "../../../src/core/ids.ts";
import { fairleadHere, type Ran } from "../../support/cli.ts";

export interface RunOptions {
  readonly env?: Record<string, string>;
  readonly stdin?: string;
  readonly tty?: boolean;
  readonly now?: () => number;
}

export async function fairlead(
  argv: readonly string[],
  options: RunOptions = {},
): Promise<Ran & { drawn: string[] }> {
  const drawn: string[] = [];
  const { tty = false, ...given } = options;
  const redraw = async () => ({
    columns: () => 80,
    show: (text: string) => void drawn.push(text),
    done: () => undefined,
  });
  return { ...(await fairleadHere(argv, { ...given, redraw: tty ? redraw : null })), drawn };
}

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "fairlead-cli-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export interface Asked {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage["headers"];
  readonly body: unknown;
}

type Answer = { readonly status?: number; readonly json: unknown } | ((response: ServerResponse) => void);

export interface Fixture {
  readonly url: string;
  readonly asked: Asked[];
}

/** Lives until the test ends. */
export async function serve(answer: (asked: Asked) => Answer | undefined): Promise<Fixture> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    void bodyOf(request).then((text) => {
      const body: unknown = text === "" ? undefined : JSON.parse(text);
      const url = new URL(request.url!, "http://fixture");
      const one: Asked = { method: request.method!, url, headers: request.headers, body };
      asked.push(one);
      const what = answer(one) ?? refusal(404, "NOT_FOUND", `nothing at ${url.pathname}`);
      if (typeof what === "function") return what(response);
      response.writeHead(what.status ?? 200, { "content-type": "application/json" });
      response.end(JSON.stringify(what.json));
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request as AsyncIterable<Buffer>) text += chunk.toString();
  return text;
}

export const refusal = (status: number, code: string, message: string, detail?: Record<string, unknown>) => ({
  status,
  json: {
    error: { code, message, next: "n", request_id: "req-1", ...(detail === undefined ? {} : { detail }) },
  },
});

export const TOKEN_ANSWER = { json: { token: "short-lived", expires_at: "2999-01-01T00:00:00.000Z" } };

export const PINS: Pins = {
  cluster_id: ClusterId.parse("c0000000-0000-4000-8000-000000000001"),
  ca_pin: "a".repeat(64),
  root_pin: "b".repeat(64),
  min_bundle_version: 1,
  enroll_url: "https://127.0.0.1:7402",
};

/** A home folder with one context for this server. */
export async function homeFor(server: string, more: Partial<Context> = {}): Promise<Record<string, string>> {
  const env = { FAIRLEAD_HOME: await temporaryFolder() };
  const context = { server, api_key: "flk_0123456789", pins: PINS, release_key_file: null, ...more };
  await contextStore(env).create("default", context);
  return env;
}
