// The stages of `npm test`, in the order they run: the cheap ones tell first.

import { buildAgent, buildConsole } from "../build.mjs";
import { checkLayers } from "./layers.ts";
import type { MachinePart } from "./machine-parts.ts";
import type { Counts } from "./report.ts";
import { check, tool, vitest } from "./tools.ts";
import { HIDDEN_VECTORS, VECTORS_VARIABLE, vectorFiles } from "./vector-files.ts";

export type Stage = {
  name: string;
  /** Starts databases, servers or browsers: left out of `npm run check`. */
  startsServices: boolean;
  machineParts: readonly MachinePart[];
  /** Runs at the same time as the stage before it: they wait more than they work. */
  beside?: boolean;
  run: (vitestArgs: readonly string[]) => Promise<Counts>;
};

const quick = (name: string, run: Stage["run"]): Stage => ({
  name,
  startsServices: false,
  machineParts: [],
  run,
});

const withServices = (name: string, run: Stage["run"], ...machineParts: MachinePart[]): Stage => ({
  name,
  startsServices: true,
  machineParts,
  run,
});

/** Real systemd hosts and a real container engine with its registry. */
const HOSTS: readonly MachinePart[] = [
  "systemd-container",
  "docker.io",
  "iptables",
  "docker-registry",
  "busybox-static",
];

export const STAGES: readonly Stage[] = [
  quick("types", () => tool("@typescript/native/bin/tsc", ["-b"])),
  quick("lint", () => tool("oxlint/bin/oxlint", [])),
  quick("format", () => tool("oxfmt/bin/oxfmt", ["--check"])),
  quick("layers", () => check(checkLayers)),
  quick("dead-code", () => tool("knip/bin/knip.js", [])),
  quick("unit", (args) => vitest("unit", args, { env: { [VECTORS_VARIABLE]: HIDDEN_VECTORS } })),
  quick("vectors", (args) => vitest("unit", [...vectorFiles(), ...args], { report: "vectors" })),
  withServices("build", () => check(() => buildAgent().then(buildConsole))),
  withServices("contract", (args) => vitest("contract", args), ...HOSTS),
  {
    ...withServices(
      "browser",
      (args) => vitest("browser", args),
      "chromium-headless-shell",
      "fonts-dejavu-core",
    ),
    beside: true,
  },
  withServices(
    "integration",
    (args) => vitest("integration", args),
    ...HOSTS,
    "nats-server",
    "haproxy",
    "tmux",
    "zsh",
    "libfaketime",
    "qemu-user-static",
    "libc6-arm64-cross",
    "libstdc++6-arm64-cross",
  ),
  withServices("crowd", (args) => vitest("crowd", args)),
];

export const isStageName = (name: string): boolean => STAGES.some((stage) => stage.name === name);
