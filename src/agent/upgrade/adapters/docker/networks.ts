/** The networks of a container: the first comes with its creation, the others are joined before it starts. */
import type { Engine } from "./engine.ts";
import type { Container } from "./schemas.ts";

/** The engine's own: nothing on them can be asked for by a container. */
const BUILT_IN = new Set(["bridge", "default", "host", "none"]);
const CARRIED = ["IPAMConfig", "Links", "DriverOpts", "GwPriority"] as const;

/** Whether the network, and with it the host name, is somebody else's. */
export const sharesNetwork = (mode: string): boolean => mode === "host" || mode.startsWith("container:");

function networksOf({ Id, NetworkSettings }: Container): [name: string, endpoint: Record<string, unknown>][] {
  return Object.entries(NetworkSettings.Networks).flatMap(([name, endpoint]) => {
    if (BUILT_IN.has(name)) return [];
    const carried = CARRIED.filter((field) => endpoint[field] !== undefined && endpoint[field] !== null);
    const own = Object.fromEntries(carried.map((field) => [field, endpoint[field]]));
    return [[name, { ...own, Aliases: endpoint.Aliases.filter((alias) => !Id.startsWith(alias)) }]];
  });
}

export function firstNetwork(old: Container): Record<string, unknown> {
  const first = networksOf(old).find(([name]) => name === old.HostConfig.NetworkMode);
  return first === undefined ? {} : { NetworkingConfig: { EndpointsConfig: Object.fromEntries([first]) } };
}

/** Whichever the new container is not on yet: asked again after a crash, it goes on. */
export async function joinNetworks(
  engine: Engine,
  old: Container,
  container: Container,
  signal: AbortSignal,
): Promise<void> {
  for (const [name, EndpointConfig] of networksOf(old)) {
    if (Object.hasOwn(container.NetworkSettings.Networks, name)) continue;
    const path = `/networks/${encodeURIComponent(name)}/connect`;
    await engine.change({ method: "POST", path, json: { Container: container.Id, EndpointConfig } }, signal);
  }
}
