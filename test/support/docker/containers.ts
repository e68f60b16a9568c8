/** The containers of one program, seen from outside the adapter. */
import type { HttpClient } from "../../../src/host/bounded-http.ts";
import { call } from "./images.ts";

interface Listed {
  readonly Id: string;
  readonly Names: readonly string[];
  readonly ImageID: string;
  readonly State: string;
  readonly Labels: Readonly<Record<string, string>>;
}

export const listed = async (api: HttpClient): Promise<Listed[]> =>
  JSON.parse(await call(api, "GET", "/containers/json?all=1")) as Listed[];

export async function containersOf(api: HttpClient, name: string) {
  const all = (await listed(api)).filter(
    ({ Names }) => Names[0] === `/${name}` || Names[0]?.startsWith(`/${name}.`),
  );
  const current = all.find(({ Names }) => Names[0] === `/${name}`);
  const replaced = current?.Labels["io.fairlead.replaced"];
  const unneeded = all.filter((container) => container !== current && container.Id !== replaced);
  return { all, current, unneeded: unneeded.map(({ Names }) => Names[0]!) };
}

export async function removeContainersOf(api: HttpClient, name: string): Promise<void> {
  for (const { Id } of (await containersOf(api, name)).all)
    await call(api, "DELETE", `/containers/${Id}?force=1&v=1`);
}

/** What tests look at. */
export interface Inspected {
  readonly Id: string;
  readonly Image: string;
  readonly Args: readonly string[];
  readonly State: { readonly Running: boolean };
  readonly HostConfig: Readonly<Record<string, unknown>>;
  readonly Config: {
    readonly Image: string;
    readonly Hostname: string;
    readonly User: string;
    readonly Env: readonly string[];
    readonly Labels: Readonly<Record<string, string>>;
  };
  readonly Mounts: readonly { readonly Destination: string; readonly Name: string }[];
  readonly NetworkSettings: {
    readonly Networks: Readonly<
      Record<string, { readonly IPAddress: string; readonly Aliases: readonly string[] | null }>
    >;
  };
}

export const inspected = async (api: HttpClient, container: string): Promise<Inspected> =>
  JSON.parse(await call(api, "GET", `/containers/${container}/json`)) as Inspected;
