/** SIGKILL of a real process at every step of a snapshot's way into force (SNAP-12), and a new one that opens the store. */
import { cp, mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { inRoot } from "../../../scripts/root.mjs";
import { openSnapshotStore } from "../../../src/agent/snapshots/store.ts";
import { minimalEnv, spawnChild } from "../../../src/host/process.ts";
import type { SnapshotChildSpec } from "../../support/programs/snapshot-child.ts";
import { headFrame, routeFrame, routeIncrement, routes } from "../../support/snapshot-frames.ts";
import { bundleFrame, newKeys, NOW } from "../../support/trust.ts";
import { identityOf } from "../../unit/agent-authority/node.ts";

const keys = newKeys();
const identity = { ...identityOf(keys), ca: "-" };
const clock = { now: () => NOW, monotonic: () => 0 };
const CHILD = join(import.meta.dirname, "../../support/programs/snapshot-child.ts");
const AT_ONCE = 4;

const STEPS = {
  snapshot: routeFrame(keys, 6, { content: routes("drop") }),
  increment: routeIncrement(keys, { base: 5, next: 6, from: routes("mesh"), to: routes("drop") }),
} as const;
type Kind = keyof typeof STEPS;

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(await realpath(tmpdir()), "fl-kill-"));
  const store = await openSnapshotStore(join(root, "before"), identity, clock);
  await store.apply(bundleFrame(keys));
  await store.takeHead(headFrame(keys));
  await store.apply(routeFrame(keys, 5, { content: routes("mesh") }));
});
afterAll(() => rm(root, { recursive: true, force: true }));

/** False when it got through before that operation. */
async function killedBefore(folder: string, kind: Kind, stopBefore: number): Promise<boolean> {
  const spec: SnapshotChildSpec = {
    folder,
    identity,
    now: NOW,
    kind,
    stopBefore,
    frame: STEPS[kind].toString("base64"),
  };
  await writeFile(`${folder}.json`, JSON.stringify(spec));
  const { child } = await spawnChild(process.execPath, [CHILD, `${folder}.json`], {
    env: { ...minimalEnv(), NODE_COMPILE_CACHE: inRoot(".cache/compile") },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = new Promise((done) => child.once("exit", done));
  const said = await new Promise<string>((done) =>
    child.stdout!.once("data", (chunk: Buffer) => done(chunk.toString())),
  );
  child.kill("SIGKILL");
  await exited;
  return said === "there\n";
}

async function killAndOpen(kind: Kind, stopBefore: number) {
  const folder = join(root, `${kind}-${stopBefore}`);
  await mkdir(folder);
  await cp(join(root, "before"), folder, { recursive: true });
  const killed = await killedBefore(folder, kind, stopBefore);
  const store = await openSnapshotStore(folder, identity, clock);
  const content = store.content("route_policy") as ReturnType<typeof routes> | null;
  return {
    killed,
    version: store.versions().route_policy?.version,
    via: content?.routes[0]?.via,
    bundle: store.versions().trust_bundle?.version,
    resync: store.resync(),
  };
}

test.each([
  ["a full snapshot", "snapshot"],
  ["an increment", "increment"],
] as const)(
  "SNAP-12: SIGKILL at every step of %s: the store opens with one whole verified one, and no version goes down",
  async (_, kind) => {
    const found: Awaited<ReturnType<typeof killAndOpen>>[] = [];
    while (found.at(-1)?.killed !== false) {
      const next = Array.from({ length: AT_ONCE }, (_, index) => found.length + index);
      found.push(...(await Promise.all(next.map((stopBefore) => killAndOpen(kind, stopBefore)))));
    }
    const versions = found.map(({ version }) => version);
    for (const { version, via, bundle, resync } of found)
      expect([version, via, bundle, resync]).toEqual([version, version === 5 ? "mesh" : "drop", 1, []]);
    expect(versions).toEqual(versions.toSorted((a, b) => (a ?? 0) - (b ?? 0)));
    expect(new Set(versions)).toEqual(new Set([5, 6]));
    expect(found.filter(({ killed }) => killed).length).toBeGreaterThan(5);
  },
);
