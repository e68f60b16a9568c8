/**
 * A container for another image, with the settings of the one whose place it takes.
 *
 * 1. What is carried over is listed, field by field (cloned-settings.ts).
 * 2. A container shows its image's defaults as its own. They are told apart by comparing with the image, or the old
 *    version's environment and entry point would outlive it.
 * 3. Arguments, environment and user are the signed run's: what an earlier run set is not carried over.
 * 4. Data stays: a volume without a name, which an image declared, is mounted again.
 * 5. It is made without a restart policy. Only `start` gives it one, so no engine that comes up brings up two.
 */
import { isDeepStrictEqual } from "node:util";
import type { RunSpec } from "../../../../core/upgrade/job.ts";
import { INSTANCE_ENV } from "../../../shim/files.ts";
import { HOST_SETTINGS, SETTINGS } from "./cloned-settings.ts";
import { LABEL_PREFIX, LABELS, type MachinePart, machinePartOf, nameOf, runLabel } from "./labels.ts";
import { firstNetwork, sharesNetwork } from "./networks.ts";
import type { Container, Image, RestartPolicy, Settings } from "./schemas.ts";

const NO_RESTART: RestartPolicy = { Name: "no", MaximumRetryCount: 0 };

export interface Wanted {
  readonly profile: string;
  readonly key: string;
  readonly instance_id: string;
  /** `repository@sha256:…`. */
  readonly image: string;
  readonly run: RunSpec;
  /** What only this machine knows, from the local config. */
  readonly env: RunSpec["env"];
  /** The run of a container that Fairlead did not make. */
  readonly provisioned: RunSpec;
  readonly restart: RestartPolicy;
  /** Id of the container that a rollback would go back to. */
  readonly replaced: string;
}

/** The body of `POST /containers/create`. */
export function cloneFor(old: Container, oldImage: Image, wanted: Wanted): Record<string, unknown> {
  const { run, restart } = wanted;
  const ours = { ...wanted.env, ...run.env, [INSTANCE_ENV]: wanted.instance_id };
  const machineUser = userOf(old, oldImage, wanted.provisioned);
  const machine: MachinePart = { user: machineUser, restart, not_env: Object.keys(ours) };
  const user = run.user ?? machineUser;
  return {
    ...ownSettings(old.Config, oldImage.Config),
    ...hostName(old),
    Image: wanted.image,
    Env: [
      ...environmentOf(old, oldImage, wanted.provisioned).filter(
        (entry) => !Object.hasOwn(ours, nameOf(entry)),
      ),
      ...Object.entries(ours).map(([name, value]) => `${name}=${value}`),
    ],
    ...(run.args.length === 0 ? {} : { Cmd: run.args }), // (3)
    ...(user === "" ? {} : { User: user }),
    Labels: {
      ...without(old.Config.Labels, oldImage.Config.Labels),
      [LABELS.profile]: wanted.profile,
      [LABELS.key]: wanted.key,
      [LABELS.instance]: wanted.instance_id,
      [LABELS.image]: wanted.image,
      [LABELS.run]: runLabel(run),
      [LABELS.machine]: JSON.stringify(machine),
      [LABELS.replaced]: wanted.replaced,
    },
    HostConfig: { ...hostSettings(old), RestartPolicy: NO_RESTART }, // (5)
    ...firstNetwork(old),
  };
}

/** The same container once more, when somebody removed the one that was set aside. */
export function cloneAsItWas(old: Container, image: string, restart: RestartPolicy): Record<string, unknown> {
  return {
    ...pick(old.Config, [...SETTINGS, "Cmd", "Env", "User", "Labels"]),
    ...hostName(old),
    Image: image,
    HostConfig: { ...hostSettings(old), RestartPolicy: restart },
    ...firstNetwork(old),
  };
}

/** What the machine's operator set. (2, 3) */
function environmentOf(old: Container, image: Image, provisioned: RunSpec): string[] {
  const others = new Set(machinePartOf(old)?.not_env ?? Object.keys(provisioned.env));
  return old.Config.Env.filter((entry) => !image.Config.Env.includes(entry) && !others.has(nameOf(entry)));
}

function userOf(old: Container, image: Image, provisioned: RunSpec): string {
  const isOwn = provisioned.user === null && old.Config.User !== image.Config.User;
  return machinePartOf(old)?.user ?? (isOwn ? old.Config.User : "");
}

function ownSettings(container: Settings, image: Settings): Record<string, unknown> {
  const own = pick(container, SETTINGS);
  for (const name of SETTINGS) if (isDeepStrictEqual(container[name], image[name])) delete own[name]; // (2)
  return own;
}

function hostSettings(old: Container): Record<string, unknown> {
  const mounted = new Set([
    ...old.HostConfig.Binds.map(targetOf),
    ...old.HostConfig.Mounts.map(({ Target }) => Target),
  ]);
  const unnamed = old.Mounts.filter(
    ({ Type, Destination }) => Type === "volume" && !mounted.has(Destination),
  );
  const again = unnamed.map(({ Name, Destination, RW }) => `${Name}:${Destination}${RW ? "" : ":ro"}`); // (4)
  return { ...pick(old.HostConfig, HOST_SETTINGS), Binds: [...old.HostConfig.Binds, ...again] };
}

/** `source:target[:options]`. */
const targetOf = (bind: string): string => bind.split(":")[1] ?? "";

/** The engine names a container after its own id when nobody else does. */
function hostName({ Id, Config: { Hostname }, HostConfig }: Container): Record<string, unknown> {
  return Hostname === "" || Id.startsWith(Hostname) || sharesNetwork(HostConfig.NetworkMode)
    ? {}
    : { Hostname };
}

function without(labels: Settings["Labels"], images: Settings["Labels"]): Record<string, string> {
  return Object.fromEntries(
    Object.entries(labels).filter(
      ([name, value]) => images[name] !== value && !name.startsWith(LABEL_PREFIX),
    ),
  );
}

function pick(from: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> {
  const present = names.filter((name) => from[name] !== undefined && from[name] !== null);
  return Object.fromEntries(present.map((name) => [name, from[name]]));
}
