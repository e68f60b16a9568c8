/**
 * The engine's API over containers in memory: for sweeps that would start thousands of real ones. What real engines do
 * is in test/contract; here only what this adapter asks of them, answered at once.
 */
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { ZodType } from "zod";
import type { Change, Engine } from "../../../src/agent/upgrade/adapters/docker/engine.ts";
import { FairleadError } from "../../../src/core/errors.ts";

interface PretendedContainer {
  readonly Id: string;
  Name: string;
  readonly Image: string;
  readonly State: { Status: string; Running: boolean; Pid: number; StartedAt: string; FinishedAt: string };
  readonly Config: { readonly Labels?: Record<string, string> } & Record<string, unknown>;
  readonly HostConfig: { RestartPolicy: { Name: string } } & Record<string, unknown>;
}

/** Plain data: a copy of it is the engine at another moment. */
export interface EngineWorld {
  readonly containers: PretendedContainer[];
  /** `repository@sha256:…` of what was pulled. */
  readonly images: string[];
  /** Ids of containers, one for each time that one was started. */
  readonly starts: string[];
  made: number;
}

export const engineWorld = (): EngineWorld => ({ containers: [], images: [], starts: [], made: 0 });

const NEVER = "0001-01-01T00:00:00Z";
const NOW = "2026-01-01T00:00:00Z";
const hex = (text: string): string => createHash("sha256").update(text).digest("hex");
const imageId = (name: string): string => `sha256:${hex(name)}`;

type Answer = readonly [status: number, body?: unknown];

function turn(world: EngineWorld, container: PretendedContainer, on: boolean): Answer {
  if (container.State.Running === on) return [304];
  const times = on ? { StartedAt: NOW } : { FinishedAt: NOW };
  const Status = on ? "running" : "exited";
  Object.assign(container.State, { Running: on, Status, Pid: on ? 7 : 0, ...times });
  if (on) world.starts.push(container.Id);
  return [204];
}

/** The power was cut and comes back: everything is off, and the engine starts whatever may restart. */
export function boot(world: EngineWorld): void {
  for (const container of world.containers) {
    turn(world, container, false);
    if (container.HostConfig.RestartPolicy.Name !== "no") turn(world, container, true);
  }
}

function create(world: EngineWorld, name: string, body: Record<string, unknown>): Answer {
  if (world.containers.some(({ Name }) => Name === `/${name}`)) return [409];
  const { HostConfig, ...Config } = body as { HostConfig: PretendedContainer["HostConfig"] };
  const image = String(body["Image"]);
  if (!world.images.includes(image)) return [404];
  world.made += 1;
  const off = { Status: "created", Running: false, Pid: 0, StartedAt: NEVER, FinishedAt: NEVER };
  const Id = hex(`container ${world.made}`);
  world.containers.push({ Id, Name: `/${name}`, Image: imageId(image), State: off, Config, HostConfig });
  return [201, { Id }];
}

function changed(world: EngineWorld, { method, path, json }: Change): Answer {
  const { pathname, searchParams } = new URL(path, "http://engine");
  const [, kind, asked = "", verb] = pathname.split("/").map(decodeURIComponent);
  const name = searchParams.get("name") ?? "";
  if (kind === "images") {
    const image = pathname.slice("/images/".length);
    if (!world.images.includes(image)) return [404];
    world.images.splice(world.images.indexOf(image), 1);
    return [200];
  }
  if (asked === "create") return create(world, name, json as Record<string, unknown>);
  const container = world.containers.find(({ Id }) => Id === asked);
  if (container === undefined) return [404];
  if (method === "DELETE") {
    if (container.State.Running) return [409];
    world.containers.splice(world.containers.indexOf(container), 1);
    return [204];
  }
  switch (verb) {
    case "rename":
      if (world.containers.some(({ Name }) => Name === `/${name}`)) return [409];
      container.Name = `/${name}`;
      return [204];
    case "update":
      Object.assign(container.HostConfig, json);
      return [200];
    case "start":
    case "stop":
      return turn(world, container, verb === "start");
    default:
      throw new Error(`nothing is known of ${method} ${path}`);
  }
}

function told(world: EngineWorld, path: string): unknown {
  const [, kind, asked = "", more] = path.split("?")[0]!.split("/").map(decodeURIComponent);
  const images = world.images.map((name) => ({ Id: imageId(name), RepoDigests: [name], Config: {} }));
  if (kind === "images") return more === undefined ? images : images.find(({ Id }) => Id === asked);
  const state = { Paused: false, Restarting: false, OOMKilled: false, ExitCode: 0 };
  const containers = world.containers.map((one) => ({
    ...one,
    State: { ...one.State, ...state },
    NetworkSettings: {},
  }));
  if (more !== undefined) return containers.find(({ Id, Name }) => Id === asked || Name === `/${asked}`);
  return containers.map(({ Id, Name, Image, State, Config }) => {
    return { Id, Names: [Name], ImageID: Image, State: State.Status, Labels: Config.Labels };
  });
}

/** `onChange` hears of each change once it is done. */
export function pretendedEngine(world: EngineWorld, onChange: () => void = () => undefined): Engine {
  return {
    async get<T>(path: string, schema: ZodType<T>): Promise<T | null> {
      const answer = told(world, path);
      return answer === undefined ? null : schema.parse(structuredClone(answer));
    },
    async change(change, signal) {
      signal?.throwIfAborted();
      const [status, body] = changed(world, structuredClone(change));
      onChange();
      if (status >= 300 && !(change.fine ?? []).includes(status))
        throw new FairleadError("ACTION_FAILED", `${status} to ${change.method} ${change.path}`, { status });
      return { status, headers: {}, body: Buffer.from(JSON.stringify(body ?? {})) };
    },
    async stream({ path }) {
      const query = new URL(path, "http://engine").searchParams;
      const name = `${query.get("fromImage")}@${query.get("tag")}`;
      if (!world.images.includes(name)) world.images.push(name);
      onChange();
      return { status: 200, headers: {}, body: Readable.from([Buffer.from("{}\n")]) };
    },
  };
}
