/** The hello program's versions in the registry, made once per lab; their digests are known before any is pulled. */
import type { Digest } from "../../../src/core/ids.ts";
import type { HttpClient } from "../../../src/host/bounded-http.ts";
import { CRASHING } from "../programs/machine.ts";
import { listed } from "./containers.ts";
import { helloScript } from "./hello-script.ts";
import { call, pushImage, REPOSITORY } from "./images.ts";
import type { DockerLab } from "./lab.ts";

const VERSIONS = ["0.9.0", "1.0.0", "2.0.0", "3.0.0"];
/** What machines begin with: pulled by hand once, and never tidied away. */
export const FIRST = "1.0.0";

export type HelloImages = Awaited<ReturnType<typeof helloImages>>;

export async function helloImages({ api }: DockerLab) {
  const digests = new Map<string, Digest>();
  for (const tag of VERSIONS) digests.set(tag, await pushImage(api, { tag, program: helloScript(tag) }));
  digests.set("crashing", await pushImage(api, { tag: "crashing", program: CRASHING }));
  const first = `${REPOSITORY}@${digests.get(FIRST)!}`;
  await call(api, "POST", `/images/create?fromImage=${REPOSITORY}&tag=${digests.get(FIRST)!}`);

  async function unused(): Promise<string[]> {
    const inUse = new Set((await listed(api)).map(({ ImageID }) => ImageID));
    const images = await inEngine(api);
    const names = images.flatMap(({ Id, RepoDigests }) => (inUse.has(Id) ? [] : (RepoDigests ?? [])));
    return names.filter((name) => name !== first);
  }

  return {
    digestOf(tag: string): Digest {
      const digest = digests.get(tag);
      if (digest === undefined) throw new Error(`there is no image ${tag}`);
      return digest;
    },
    unused,
    /** The versions that the engine has. */
    async there(): Promise<string[]> {
      const names = (await inEngine(api)).flatMap(({ RepoDigests }) => RepoDigests ?? []);
      return [...digests]
        .flatMap(([tag, digest]) => (names.includes(`${REPOSITORY}@${digest}`) ? [tag] : []))
        .toSorted();
    },
    async forgetUnused(): Promise<void> {
      for (const name of await unused()) await call(api, "DELETE", `/images/${name}`);
    },
    /** What a tag points to can change at any time. */
    moveTag: async (tag: string, version: string): Promise<Digest> =>
      pushImage(api, { tag, program: `${helloScript(version)}# moved\n` }),
  };
}

interface InEngine {
  readonly Id: string;
  readonly RepoDigests: readonly string[] | null;
}

const inEngine = async (api: HttpClient): Promise<InEngine[]> =>
  JSON.parse(await call(api, "GET", "/images/json?digests=1")) as InEngine[];
