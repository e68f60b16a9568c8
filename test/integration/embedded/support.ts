import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readdir, readFile, readlink, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import postgres from "postgres";
import { onTestFinished } from "vitest";
import { createHttpClient, type HttpTarget } from "../../../src/host/bounded-http.ts";
import { isAlive, type ProcessIdentity } from "../../../src/host/process-identity.ts";
import { type DatabaseSocket, removeEmbedded } from "../../../src/server/embedded/embedded.ts";

/** Short enough for a socket below it. */
export async function temporaryDataDir(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "fl-e-"));
  await chmod(folder, 0o711); // PostgreSQL's account passes through
  onTestFinished(async () => {
    await removeEmbedded(folder);
    await rm(folder, { recursive: true, force: true });
  });
  return folder;
}

export interface RunningElsewhere {
  readonly child: ChildProcess;
  readonly database: DatabaseSocket;
  readonly processes: { readonly postgres: ProcessIdentity; readonly restate: ProcessIdentity };
}

export interface ElsewhereOptions {
  readonly uid?: number;
  readonly env?: Record<string, string>;
  readonly node?: string;
  readonly script?: string;
}

const SCRIPT = fileURLToPath(new URL("run-embedded.ts", import.meta.url));

/** The engines under a process of their own, which a test may kill. */
export async function startElsewhere(
  dataDir: string,
  options: ElsewhereOptions = {},
): Promise<RunningElsewhere> {
  const { uid, env, node = process.execPath, script = SCRIPT } = options;
  const child = spawn(node, [script, dataDir], {
    stdio: ["ignore", "pipe", "pipe"],
    cwd: "/",
    ...(uid === undefined ? {} : { uid, gid: uid }),
    ...(env === undefined ? {} : { env }),
  });
  let complaints = "";
  child.stderr.on("data", (chunk: Buffer) => (complaints += chunk.toString()));
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGTERM");
    await once(child, "exit");
  });
  for await (const line of createInterface({ input: child.stdout })) {
    return { child, ...(JSON.parse(line) as Omit<RunningElsewhere, "child">) };
  }
  throw new Error(`the engines did not start: ${complaints}`);
}

export async function query<T>(socket: DatabaseSocket, work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = postgres({ ...socket, max: 1, connect_timeout: 5, onnotice: () => undefined });
  try {
    return await work(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

export async function statusOf(target: HttpTarget, path: string): Promise<number> {
  const client = createHttpClient(target);
  try {
    return (await client.request(path)).status;
  } finally {
    client.close();
  }
}

export const anyAlive = (identities: readonly ProcessIdentity[]): boolean => identities.some(isAlive);

/** Processes that work in a folder or name it on their command line: whatever of the engines there still is. */
export async function processesAround(folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => "");
    const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    if (cwd.startsWith(folder) || command.split("\0").some((part) => part.startsWith(folder)))
      found.push(command);
  }
  return found;
}

/** Ports on which a process listens, by the sockets it holds open. */
export async function listeningPorts({ pid }: ProcessIdentity): Promise<string[]> {
  const descriptors = await readdir(`/proc/${pid}/fd`);
  const open = await Promise.all(
    descriptors.map(async (fd) => readlink(join(`/proc/${pid}/fd`, fd)).catch(() => "")),
  );
  const tables = await Promise.all(
    ["tcp", "tcp6"].map(async (table) => readFile(`/proc/${pid}/net/${table}`, "utf8")),
  );
  return tables
    .flatMap((table) => table.split("\n").slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state === "0A" && open.includes(`socket:[${inode}]`))
    .map(([, address]) => address ?? "");
}
