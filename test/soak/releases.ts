/** What a day brings: bytes at the origin, and a manifest for them. */
import { helloProgram } from "../../src/demo/hello-program.ts";
import { writeManifest } from "../support/lab/manifest.ts";
import type { Published } from "../support/lab/origin.ts";
import { PROFILE } from "./machine.ts";
import type { Release } from "./plan.ts";
import type { SoakSite } from "./site.ts";

/** By the manifest, in seconds: two heartbeats of a node at work. */
const NODE_SILENCE_MAX = 20;

export interface Brought extends Published {
  /** The operator's copy. */
  readonly manifest: string;
}

const EXITS = "#!/bin/sh\nexit 7\n";

export async function bring({ lab }: SoakSite, version: string, release: Release): Promise<Brought> {
  const to = lab.origin.publish(version, {
    ...(release === "crashing" ? { program: EXITS } : {}),
    ...(release === "altered" ? { served: `${helloProgram(version)}// and more\n` } : {}),
  });
  const manifest = await writeManifest(lab, {
    id: `v${version.replaceAll(".", "-")}`,
    profile: PROFILE,
    to,
    more: {
      runtime: "systemd",
      node_silence_max: NODE_SILENCE_MAX,
      ...(release === "unhealthy" ? { run: { env: { HEALTH: "silent" } } } : {}),
    },
  });
  return { ...to, manifest };
}
