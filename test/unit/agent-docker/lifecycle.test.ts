/** Names and stops that an engine understands otherwise than they were meant. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ZodType } from "zod";
import { type DockerProgram, ProgramConfig } from "../../../src/agent/programs/config.ts";
import { asideName, inspect } from "../../../src/agent/upgrade/adapters/docker/containers.ts";
import type { Engine } from "../../../src/agent/upgrade/adapters/docker/engine.ts";
import { install } from "../../../src/agent/upgrade/adapters/docker/install.ts";
import { LABELS } from "../../../src/agent/upgrade/adapters/docker/labels.ts";
import { start, stop } from "../../../src/agent/upgrade/adapters/docker/lifecycle.ts";
import { type NoteBook, noteBook } from "../../../src/agent/upgrade/adapters/docker/notes.ts";
import { restore } from "../../../src/agent/upgrade/adapters/docker/restore.ts";
import { Container } from "../../../src/agent/upgrade/adapters/docker/schemas.ts";
import { FairleadError } from "../../../src/core/errors.ts";
import { Digest } from "../../../src/core/ids.ts";
import { systemClock } from "../../../src/host/clock.ts";
import { nodeFileSystem } from "../../../src/host/file-system-port.ts";
import { never } from "../../support/programs/contract-machine.ts";

const ID = "beef".repeat(16);
const IMAGE = Digest.parse(`sha256:${"a".repeat(64)}`);

let folder: string;
let notes: NoteBook;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "fairlead-lifecycle-"));
  notes = noteBook(folder, nodeFileSystem);
});
afterEach(async () => rm(folder, { recursive: true, force: true }));

/** One container, found as engines find one: by name, by id, or by the beginning of its id. */
function engineWith({
  name = "hello",
  lateStops = 0,
  restarts = 0,
  looksUntilRestart = 0,
  refusals = 0,
  labels = {},
}) {
  const world = { on: true, changes: [] as string[], looksLeft: Infinity };
  const container = () => ({
    Id: ID,
    Name: `/${name}`,
    Image: IMAGE,
    RestartCount: restarts,
    State: {
      Status: world.on ? "running" : "exited",
      Running: world.on,
      Paused: false,
      Restarting: false,
      OOMKilled: false,
      Pid: world.on ? 7 : 0,
      ExitCode: 0,
      StartedAt: "2026-01-01T00:00:00Z",
      FinishedAt: "0001-01-01T00:00:00Z",
    },
    Config: { Image: IMAGE, Labels: labels },
    HostConfig: refusals > 0 ? { RestartPolicy: { Name: "always", MaximumRetryCount: 0 } } : {},
    NetworkSettings: {},
  });
  const engine: Engine = {
    async get<T>(path: string, schema: ZodType<T>): Promise<T | null> {
      if (path.startsWith("/images/")) return null;
      const asked = path.split("/")[2]!;
      if (world.looksLeft-- === 0) world.on = true;
      return asked === name || ID.startsWith(asked) ? schema.parse(container()) : null;
    },
    async change({ path }) {
      const verb = /\/(stop|start|update)\b/.exec(path)?.[1] ?? path;
      world.changes.push(verb);
      if (verb === "update") {
        if (refusals-- > 0)
          throw new FairleadError("ACTION_FAILED", "cannot update a stopped container", { status: 500 });
        return { status: 200, headers: {}, body: Buffer.alloc(0) };
      }
      if (verb === "stop" && lateStops-- > 0)
        throw new FairleadError("RUNTIME_UNRESPONSIVE", "no answer", { change: verb });
      const status = verb === "start" && world.on ? 304 : 204;
      world.on = verb === "start";
      if (verb === "stop" && restarts-- > 0) world.looksLeft = looksUntilRestart;
      return { status, headers: {}, body: Buffer.alloc(0) };
    },
    stream: async () => {
      throw new Error("nothing is pulled");
    },
  };
  const program = ProgramConfig.parse({
    runtime: "docker",
    container: "hello",
    data_dir: folder,
    config_dir: folder,
    health: { url: "http://127.0.0.1:1/healthz" },
  }) as DockerProgram;
  return { world, program, deps: { program, engine, notes, clock: systemClock, settleMs: 0 } };
}

describe("a container's name", () => {
  it("ROLL-8: that begins a stranger's id does not lead to the stranger", async () => {
    const { deps } = engineWith({ name: "stranger" });
    expect(await inspect(deps.engine, "beef")).toBeNull();
    expect(await inspect(deps.engine, ID.slice(0, 12))).toBeNull();
  });

  it("ROLL-8: or id, whole, leads to it", async () => {
    const { deps } = engineWith({ name: "beef" });
    expect((await inspect(deps.engine, "beef"))?.Id).toBe(ID);
    expect((await inspect(deps.engine, ID))?.Name).toBe("/beef");
  });
});

describe("a stop whose answer never came", () => {
  const request = (program: DockerProgram) => ({ key: "k", fingerprint: IMAGE, run: program.run });

  it("ROLL-5: is finished before the way back starts the container: what is still on is about to end", async () => {
    const { world, program, deps } = engineWith({ lateStops: 1 });
    await expect(stop(deps, never())).rejects.toMatchObject({ code: "RUNTIME_UNRESPONSIVE" });
    await start(deps, request(program), never());
    expect(world.changes).toEqual(["stop", "stop", "start"]);
    await start(deps, request(program), never());
    expect(world.changes.slice(3)).toEqual(["start"]); // joined: nothing is in doubt any more
  });

  it("ROLL-5: that took effect meanwhile costs no second one", async () => {
    const { world, program, deps } = engineWith({ lateStops: 1 });
    await expect(stop(deps, never())).rejects.toMatchObject({ code: "RUNTIME_UNRESPONSIVE" });
    world.on = false;
    await start(deps, request(program), never());
    expect(world.changes).toEqual(["stop", "start"]);
  });

  it("ROLL-5: that was answered is not remembered", async () => {
    const { deps } = engineWith({});
    await stop(deps, never());
    expect((await notes.read()).stopping).toBeNull();
  });
});

describe("a program that the engine was about to restart", () => {
  it.each([
    ["as soon as it was stopped", 0],
    ["a moment later", 1],
  ])("ROLL-5: and restarts %s, is stopped again", async (_when, looksUntilRestart) => {
    const { world, deps } = engineWith({ restarts: 2, looksUntilRestart });
    let time = 0;
    const clock = { ...systemClock, monotonic: () => (time += 10) }; // two looks
    await stop({ ...deps, clock, settleMs: 15 }, never());
    expect(world).toMatchObject({ on: false, changes: ["stop", "stop", "stop"] });
  });

  it("ROLL-5: again and again, does not end", async () => {
    const { deps } = engineWith({ restarts: 100 });
    await expect(stop(deps, never())).rejects.toThrow("hello does not end");
  });
});

describe("an engine that cannot change a policy because the process has just ended", () => {
  it("ROLL-5: is asked again", async () => {
    const { world, deps } = engineWith({ refusals: 3 });
    await stop(deps, never());
    expect(world).toMatchObject({ on: false, changes: [...Array<string>(4).fill("update"), "stop"] });
  });

  it("ROLL-5: is not asked for ever, and nothing was stopped", async () => {
    const { world, deps } = engineWith({ refusals: Infinity });
    await expect(stop(deps, never())).rejects.toThrow("cannot update");
    expect(world.on).toBe(true);
  });
});

describe("a container that is not the one to start", () => {
  const OTHER = Digest.parse(`sha256:${"b".repeat(64)}`);

  it("ROLL-8: by its digest is refused, and nothing is changed", async () => {
    const { world, program, deps } = engineWith({});
    const request = { key: "k", fingerprint: OTHER, run: program.run };
    await expect(start(deps, request, never())).rejects.toMatchObject({ code: "ARTIFACT_DIGEST_MISMATCH" });
    expect(world.changes).toEqual([]);
  });

  it("ROLL-8: by its run is refused, and nothing is changed", async () => {
    const { world, program, deps } = engineWith({});
    const request = { key: "k", fingerprint: IMAGE, run: { ...program.run, argv: ["other"] } };
    await expect(start(deps, request, never())).rejects.toMatchObject({ code: "RUN_SPEC_MISMATCH" });
    expect(world.changes).toEqual([]);
  });

  it("ROLL-9: in a restore is left alone when this job did not make it", async () => {
    const { world, deps } = engineWith({});
    world.on = false;
    const restoring = restore({ ...deps, profile: "web" }, "k", null, never());
    await expect(restoring).rejects.toThrow("hello is a container of somebody else");
    expect(world.changes).toEqual([]);
  });

  it("ROLL-8: by its image is refused after an install, though its labels are the job's", async () => {
    const { program, deps } = engineWith({ labels: { [LABELS.key]: "k" } });
    const set = asideName(program.container, "k");
    const engine: Engine = {
      ...deps.engine,
      async get<T>(path: string, schema: ZodType<T>): Promise<T | null> {
        if (path.startsWith("/images/json")) return schema.parse([{ Id: OTHER, RepoDigests: [] }]);
        if (path !== `/containers/${set}/json`) return deps.engine.get(path, schema);
        const old = await deps.engine.get("/containers/hello/json", Container);
        return schema.parse({ ...old, Id: "cafe".repeat(16), Name: `/${set}` });
      },
    };
    const artifact = { name: "web", fingerprint: OTHER, version: "2.0.0", url: "registry.example/web" };
    const request = { key: "k", run: program.run };
    await expect(install({ ...deps, engine, profile: "web" }, artifact, request, never())).rejects.toThrow(
      `the engine made a container of ${IMAGE}`,
    );
  });
});
