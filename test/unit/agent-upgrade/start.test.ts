/** The agent's one file, started as a node's operator starts it, by Nodes that are too old and by one that is not. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { buildAgent } from "../../../scripts/build.mjs";
import { inRoot } from "../../../scripts/root.mjs";
import { FAIRLEAD_VERSION } from "../../../src/core/version.ts";
import { run } from "../../../src/host/process.ts";

const BUNDLE = inRoot("dist/agent/fairlead-agent.mjs");

beforeAll(async () => buildAgent(), 60_000);

async function started(node: readonly [string, ...string[]], ...args: string[]) {
  const [file, ...flags] = node;
  const ran = await run(file, [...flags, BUNDLE, ...args], { timeoutMs: 60_000 });
  if (ran.kind !== "exited") throw new Error(ran.kind);
  return { code: ran.code, out: ran.stdout.toString(), err: ran.stderr.toString() };
}

/** This machine's own, besides the one that runs the tests; there may be none. */
async function oldNodes(): Promise<string[]> {
  const folders = (process.env["PATH"] ?? "").split(":").filter((path) => path !== "");
  const files = folders.filter((path) => namesIn(path).includes("node")).map((path) => join(path, "node"));
  const versions = await Promise.all(
    files.map(
      async (file) =>
        [file, await run(file, ["-p", "process.versions.node"], { timeoutMs: 20_000 })] as const,
    ),
  );
  return versions.flatMap(([file, ran]) =>
    ran.kind === "exited" && Number.parseInt(ran.stdout.toString(), 10) < 24 ? [file] : [],
  );
}

function namesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return []; // a folder of PATH that is not there
  }
}

/** Node 24 that says that it is another. */
const PRETENDED =
  "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '22.11.0' } })";
const pretended: [string, ...string[]] = [process.execPath, "--import", `data:text/javascript,${PRETENDED}`];

test("the agent's bundle on a Node below 24 says what it needs and exits with a failure; --version works", async () => {
  const nodes: [string, ...string[]][] = [pretended, ...(await oldNodes()).map((file): [string] => [file])];
  for (const node of nodes) {
    const { code, out, err } = await started(node, "--config", "/no/such/file");
    expect([code, out], node[0]).toEqual([1, ""]);
    expect(err).toMatch(/^error: the agent needs Node 24 or newer; .* is Node \d+\.\d+\.\d+\nwhat to do: /);
    expect(await started(node, "--version")).toEqual({ code: 0, out: `${FAIRLEAD_VERSION}\n`, err: "" });
  }
}, 120_000);

test("the agent's bundle on Node 24 prints its version and its help", async () => {
  expect(await started([process.execPath], "--version")).toMatchObject({
    code: 0,
    out: `${FAIRLEAD_VERSION}\n`,
  });
  expect((await started([process.execPath], "--help")).out).toContain("--version");
});
