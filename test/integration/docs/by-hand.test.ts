// The guide to a site by hand, run as its reader runs it: the blocks in order, pasted into an interactive zsh. Only the
// folder and the ports differ, so that it can run beside anything else.

import { existsSync } from "node:fs";
import { chmod, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { inRoot } from "../../../scripts/root.mjs";
import { minimalEnv, run } from "../../../src/host/process.ts";
import { openShell, shellBlocks } from "../../support/docs/pasted-shell.ts";
import { freePort, freePorts } from "../../support/programs/free-port.ts";

const FOLDER = "/tmp/fairlead-tour";
/** The programs of the three nodes listen on 7491 to 7493, written as 749$n. */
const PROGRAM_PREFIX = "749";
const tourTimeoutMs = 240_000;

let parent = "";
const folder = () => join(parent, "tour");

beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), "fl-tour-"));
  await chmod(parent, 0o711); // PostgreSQL's account passes through
});

/** Programs are in sessions of their own: a tour that broke off leaves them to us. */
afterAll(async () => {
  const nodes = existsSync(folder())
    ? (await readdir(folder())).filter((name) => /^edge-\d$/.test(name))
    : [];
  for (const node of nodes) {
    const config = join(folder(), node, "agent.yaml");
    const stop = [inRoot("bin/fairlead.mjs"), "agent", "--config", config, "--stop-programs"];
    if (existsSync(config)) await run(process.execPath, stop, { env: minimalEnv(), timeoutMs: 30_000 });
  }
  await rm(parent, { recursive: true, force: true });
});

/** A port of ours for each that the tour names; the servers' own are its defaults, so flags say them here. */
function rewritten(block: string, ports: ReadonlyMap<string, string>): string {
  const flags = ["listen 7400", "agent-listen 7401", "enroll-listen 7402"].map((flag) => {
    const [name, port = ""] = flag.split(" ");
    return `--${name} 127.0.0.1:${port}`;
  });
  return block
    .replaceAll(FOLDER, folder())
    .replaceAll("--ephemeral", `--ephemeral ${flags.join(" ")}`)
    .replaceAll(/\b74\d\d\b/g, (port) => ports.get(port) ?? port)
    .replaceAll(`${PROGRAM_PREFIX}$n`, `${ports.get(PROGRAM_PREFIX)}$n`);
}

async function tourPorts(): Promise<Map<string, string>> {
  const ports = new Map<string, string>();
  for (const known of ["7400", "7401", "7402", "7480"]) ports.set(known, String(await freePort()));
  const programs = await freePorts(3);
  ports.set(PROGRAM_PREFIX, String(programs[0]).slice(0, -1));
  for (const [index, port] of programs.entries()) ports.set(`${PROGRAM_PREFIX}${index + 1}`, String(port));
  return ports;
}

function listenOnce(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      const { port: bound } = server.address() as { port: number };
      server.close(() => resolve(bound));
    });
  });
}

test(
  "USE-1: the guide to a site by hand works when it is pasted into an interactive zsh, and leaves nothing behind",
  { timeout: tourTimeoutMs + 60_000 },
  async () => {
    const blocks = shellBlocks(await readFile(inRoot("docs/guides/by-hand.md"), "utf8"));
    expect(blocks.length).toBeGreaterThan(5);
    const ports = await tourPorts();
    const shell = await openShell("zsh", inRoot("."), { ...minimalEnv(), HOME: parent, TERM: "screen" });
    onTestFinished(() => shell.close());
    const parts: string[] = [];
    for (const block of blocks) parts.push(await shell.paste(rewritten(block, ports)));
    const saidBy = (command: string): string =>
      parts[blocks.findIndex((block) => block.includes(command))] ?? "";

    expect(saidBy("fairlead server")).toContain('"event":"listening"');
    expect(saidBy("fairlead init")).toMatch(/^intents +required$/m);
    expect(saidBy("fairlead agent --config").match(/^edge-\d .* 1\.0\.0 /gm)).toHaveLength(3);
    expect(saidBy("fairlead agent --config")).toContain("hello 1.0.0");
    expect(saidBy("fairlead rollout pause")).toContain("exit code 9");
    expect(saidBy("fairlead rollout pause")).toMatch(/^status +paused$/m);
    expect(saidBy("fairlead rollout watch")).toMatch(/^rollout [0-9a-f]{8} .* completed /m);
    expect(saidBy("fairlead node show")).toContain("hello 2.0.0");
    const { running, installed } =
      /^ *running +(?<running>sha256:\w+)\n *installed +(?<installed>sha256:\w+)$/m.exec(
        saidBy("fairlead node show"),
      )?.groups ?? {};
    expect(running).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(installed).toBe(running);
    expect(saidBy("fairlead console")).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#code=\S+$/m);
    expect(saidBy("--no-sign")).toContain("INTENT_REQUIRED");
    expect(saidBy("--no-sign")).toContain("exit code 8");
    expect(saidBy("fairlead node revoke")).toMatch(/^edge-1 +\w+ +active .* 2\.0\.0 /m);
    expect(saidBy("fairlead node revoke")).toMatch(/^edge-3 +\w+ +revoked .* 2\.0\.0 /m);

    expect(existsSync(folder())).toBe(false);
    for (const [known, port] of ports) {
      if (known !== PROGRAM_PREFIX)
        await expect(listenOnce(Number(port)), `port ${known}`).resolves.toBe(Number(port));
    }
  },
);
