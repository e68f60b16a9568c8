/** `npm run demo` as its own process group, with a temporary folder of its own, so that runs do not meet. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, chown, mkdtemp, readdir, realpath, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { inRoot } from "../../../scripts/root.mjs";
import { minimalEnv } from "../../../src/host/process.ts";
import { eventually } from "./eventually.ts";
import { processesAround } from "./processes.ts";

export const DemoResult = z.strictObject({
  status: z.string(),
  nodes: z.array(
    z.strictObject({
      name: z.string(),
      version_before: z.string().nullable(),
      version_after: z.string().nullable(),
      seconds: z.number().nullable(),
    }),
  ),
  seconds: z.number(),
});
export type DemoResult = z.infer<typeof DemoResult>;

interface Where {
  readonly root?: string;
  readonly user?: { readonly uid?: number; readonly gid?: number };
}

export interface RunningDemo {
  /** Until it has said so. */
  says(text: string): Promise<void>;
  /** To the whole group, as a terminal does it. */
  signal(signal: NodeJS.Signals): void;
  ended(): Promise<{
    readonly code: number | null;
    readonly result: () => DemoResult;
    readonly said: string;
    readonly out: string;
  }>;
}

export type DemoPlace = Awaited<ReturnType<typeof demoPlace>>;

export async function demoPlace({ root = inRoot("."), user = {} }: Where = {}) {
  const tmp = await mkdtemp(join(tmpdir(), "fl-d-"));
  await chmod(tmp, 0o711);
  if (user.uid !== undefined) await chown(tmp, user.uid, user.gid!);
  const places = new Set([tmp]);
  // Compiling everything anew is left to another user's run: ours would spend a good part of its time on it.
  const cache: Record<string, string> =
    user.uid === undefined
      ? { XDG_CACHE_HOME: process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache") }
      : {};
  const started: ChildProcess[] = [];

  /** Where the engines of a running demo lie, as long as it has any. */
  async function noteEngines(): Promise<void> {
    for (const name of await readdir(tmp)) {
      const engines = await realpath(join(tmp, name, "server", "engines")).catch(() => undefined);
      if (engines !== undefined) places.add(engines);
    }
  }

  const env = { ...minimalEnv(), HOME: tmp, TMPDIR: tmp, ...cache };

  return {
    /** For a second terminal beside a demo. */
    env,
    start(...args: string[]): RunningDemo {
      const child = spawn("npm", ["run", "--silent", "demo", "--", ...args], {
        cwd: root,
        env,
        detached: true,
        stdio: ["ignore", "pipe", "pipe"],
        ...user,
      });
      started.push(child);
      const exited = once(child, "exit") as Promise<[number | null]>;
      const looking = setInterval(() => void noteEngines(), 50);
      void exited.finally(() => clearInterval(looking));
      let out = "";
      let said = "";
      child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
      child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
      return {
        says: (text) => eventually(`the demo says ${text}`, () => said.includes(text)).then(() => undefined),
        signal: (signal) => void process.kill(-child.pid!, signal),
        ended: async () => {
          const [code] = await exited;
          return {
            code,
            said,
            out,
            result: () => DemoResult.parse(JSON.parse(out.trimEnd().split("\n").at(-1)!)),
          };
        },
      };
    },
    /** Until PostgreSQL and Restate have a folder. */
    enginesBegin: () => eventually("the engines begin", () => places.size > 1),
    /** Processes and folders that a demo left behind. */
    async leftBehind(): Promise<string[]> {
      const processes = (await processesAround([...places])).map(({ command }) => command);
      const demos = (await readdir(tmp)).filter((name) => name.startsWith("fairlead"));
      return [...processes, ...demos, ...[...places].filter((place) => place !== tmp && existsSync(place))];
    },
    async remove(): Promise<void> {
      for (const child of started)
        if (child.exitCode === null && child.signalCode === null) child.kill("SIGTERM");
      for (const { identity } of await processesAround([...places])) process.kill(identity.pid, "SIGKILL");
      for (const place of places) await rm(place, { recursive: true, force: true });
    },
  };
}
