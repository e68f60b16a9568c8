/** The container of a program: looked at, and kept from coming up by itself while it must stay off. */
import { FairleadError } from "../../../../core/errors.ts";
import { type Engine, shaped } from "./engine.ts";
import { machinePartOf } from "./labels.ts";
import type { NoteBook } from "./notes.ts";
import { Container, ContainerList, Created, type ListedContainer, type RestartPolicy } from "./schemas.ts";

const NEVER: RestartPolicy = { Name: "no", MaximumRetryCount: 0 };

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

export const restarts = ({ Name }: RestartPolicy): boolean => Name !== "" && Name !== "no";

/** What it should have while it is on. */
export async function wantedRestart(container: Container, notes: NoteBook): Promise<RestartPolicy> {
  const { RestartPolicy: policy } = container.HostConfig;
  if (restarts(policy)) return policy;
  return (await notes.read()).restart[container.Id] ?? machinePartOf(container)?.restart ?? policy;
}

/**
 * With `always`, an engine that is started brings up what was stopped: in the middle of an upgrade that would be the
 * old version beside the new one.
 */
export async function keepOff(
  engine: Engine,
  container: Container,
  notes: NoteBook,
  signal: AbortSignal,
): Promise<void> {
  const { RestartPolicy: policy } = container.HostConfig;
  if (!restarts(policy)) return;
  signal.throwIfAborted();
  await notes.change(({ restart }) => ({ restart: { ...restart, [container.Id]: policy } }));
  await setRestart(engine, container, NEVER, signal);
}

export async function letRestart(
  engine: Engine,
  container: Container,
  notes: NoteBook,
  signal: AbortSignal,
): Promise<void> {
  const wanted = await wantedRestart(container, notes);
  if (wanted.Name !== container.HostConfig.RestartPolicy.Name)
    await setRestart(engine, container, wanted, signal);
}

async function setRestart(
  engine: Engine,
  { Id }: Container,
  RestartPolicy: RestartPolicy,
  signal: AbortSignal,
): Promise<void> {
  await engine.change({ method: "POST", path: `/containers/${Id}/update`, json: { RestartPolicy } }, signal);
}

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
