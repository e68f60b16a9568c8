/** Images from nothing: busybox and one program, imported by the engine and pushed to the registry under a tag. */
import { readFile } from "node:fs/promises";
import { Digest } from "../../../src/core/ids.ts";
import type { HttpClient } from "../../../src/host/bounded-http.ts";
import { REGISTRY } from "./lab.ts";
import { tarOf } from "./tar.ts";

export const REPOSITORY = `${REGISTRY}/hello`;
const CALL_TIMEOUT_MS = 60_000;

export interface ImageOptions {
  readonly tag: string;
  /** The program, a script for `/bin/sh`. */
  readonly program: string;
  readonly repository?: string;
  /** Lines as in a Dockerfile, beside the entry point. */
  readonly changes?: readonly string[];
}

/** The digest by which the registry knows it. Nothing of it stays in the engine. */
export async function pushImage(api: HttpClient, options: ImageOptions): Promise<Digest> {
  const { tag, program, repository = REPOSITORY, changes = [] } = options;
  const layer = tarOf([
    { path: "bin/", mode: 0o755 },
    { path: "bin/busybox", mode: 0o755, content: await readFile("/bin/busybox") },
    { path: "bin/sh", mode: 0o777, link: "busybox" },
    { path: "tmp/", mode: 0o1777 },
    { path: "etc/", mode: 0o755 },
    { path: "etc/passwd", mode: 0o644, content: Buffer.from("root:x:0:0::/:/bin/sh\n") },
    { path: "program", mode: 0o755, content: Buffer.from(program) },
  ]);
  const query = new URLSearchParams({ fromSrc: "-", repo: repository, tag });
  for (const change of ['ENTRYPOINT ["/program"]', ...changes]) query.append("changes", change);
  await call(api, "POST", `/images/create?${query.toString()}`, { bytes: layer });
  const pushed = await call(api, "POST", `/images/${repository}/push?tag=${tag}`, {
    headers: { "x-registry-auth": "e30=" },
  });
  await call(api, "DELETE", `/images/${repository}:${tag}`);
  const said = pushed.split("\n").map((line) => /"Digest":"(sha256:[0-9a-f]{64})"/.exec(line)?.[1]);
  return Digest.parse(said.find((digest) => digest !== undefined));
}

/** What an operator does by hand; answers with the engine's text. */
export async function call(
  api: HttpClient,
  method: "GET" | "POST" | "DELETE",
  path: string,
  request: {
    readonly bytes?: Uint8Array;
    readonly json?: unknown;
    readonly headers?: Record<string, string>;
  } = {},
): Promise<string> {
  const { status, body } = await api.request(path, { method, timeoutMs: CALL_TIMEOUT_MS, ...request });
  const text = body.toString("utf8");
  // A stream of progress begins with 200 and tells its failure at the end.
  if (status >= 400 || text.includes('"errorDetail"'))
    throw new Error(`${method} ${path}: ${status} ${text}`);
  return text;
}
