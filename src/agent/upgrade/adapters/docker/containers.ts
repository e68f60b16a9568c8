/** The container of a program: looked at, made, named and removed. */
import { FairleadError } from "../../../../core/errors.ts";
import { type Engine, shaped } from "./engine.ts";
import { Container, ContainerList, Created, type ListedContainer } from "./schemas.ts";

/** Of the one that makes way for `key`: no two upgrades share it. */
export const asideName = (name: string, key: string): string => `${name}.bak.${key}`;
export const isAsideName = (name: string, other: string): boolean => other.startsWith(`/${name}.bak.`);

/** By name or id, both whole: an engine that knows no such name takes it for the beginning of a stranger's id. */
export async function inspect(engine: Engine, container: string): Promise<Container | null> {
  const found = await engine.get(`/containers/${encodeURIComponent(container)}/json`, Container);
  return found?.Id === container || found?.Name === `/${container}` ? found : null;
}

export const listContainers = async (engine: Engine): Promise<ListedContainer[]> =>
  (await engine.get("/containers/json?all=1", ContainerList)) ?? [];

/** Between two restarts it does not run, but is about to. */
export const isOn = ({ State }: Pick<Container, "State">): boolean =>
  State.Running || State.Restarting || State.Paused;

export async function rename(
  engine: Engine,
  { Id }: Container,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  const path = `/containers/${Id}/rename?name=${encodeURIComponent(name)}`;
  await engine.change({ method: "POST", path }, signal);
}

/** Its volumes stay: data is never touched. */
export async function remove(engine: Engine, id: string, signal: AbortSignal): Promise<void> {
  await engine.change({ method: "DELETE", path: `/containers/${id}?v=0`, fine: [404] }, signal);
}

export async function createNamed(
  engine: Engine,
  name: string,
  json: Record<string, unknown>,
  signal: AbortSignal,
): Promise<Container> {
  const path = `/containers/create?name=${encodeURIComponent(name)}`;
  const { Id } = shaped(path, await engine.change({ method: "POST", path, json }, signal), Created);
  const container = await inspect(engine, Id);
  if (container === null)
    throw new FairleadError("ACTION_FAILED", `${name} was removed as soon as it was made`);
  return container;
}
