/** What we read of the engine's answers. Fields that we only carry over stay as they came. */
import { z } from "zod";

const Text = z
  .string()
  .nullish()
  .transform((value) => value ?? "");
const Texts = z
  .array(z.string())
  .nullish()
  .transform((value) => value ?? []);
const Labels = z
  .record(z.string(), z.string())
  .nullish()
  .transform((value) => value ?? {});

export const EngineVersion = z.object({ ApiVersion: z.string(), MinAPIVersion: z.string().default("1.12") });

export const RestartPolicy = z.object({ Name: Text, MaximumRetryCount: z.int().default(0) });
export type RestartPolicy = z.infer<typeof RestartPolicy>;

/** Settings that an image brings and a container may have its own of. */
const Settings = z.looseObject({
  Env: Texts,
  User: Text,
  Labels,
});
export type Settings = z.infer<typeof Settings>;

export const Container = z.object({
  Id: z.string().min(12),
  Name: z.string(),
  /** The image's own digest, whatever its tags point to by now. */
  Image: z.string(),
  RestartCount: z.int().default(0),
  State: z.object({
    Status: z.string(),
    Running: z.boolean(),
    Paused: z.boolean(),
    Restarting: z.boolean(),
    OOMKilled: z.boolean(),
    Pid: z.int(),
    ExitCode: z.int(),
    Error: Text,
    StartedAt: z.string(),
    FinishedAt: z.string(),
  }),
  Config: Settings.extend({ Image: Text, Hostname: Text }),
  HostConfig: z.looseObject({
    RestartPolicy: RestartPolicy.prefault({}),
    NetworkMode: Text,
    AutoRemove: z.boolean().default(false),
    Binds: Texts,
    Mounts: z
      .array(z.looseObject({ Target: z.string() }))
      .nullish()
      .transform((value) => value ?? []),
  }),
  Mounts: z
    .array(z.object({ Type: z.string(), Name: Text, Destination: z.string(), RW: z.boolean().default(true) }))
    .default([]),
  NetworkSettings: z.object({
    Networks: z
      .record(z.string(), z.looseObject({ Aliases: Texts }))
      .nullish()
      .transform((value) => value ?? {}),
  }),
});
export type Container = z.infer<typeof Container>;

export const Image = z.object({
  Id: z.string(),
  RepoDigests: Texts,
  Config: Settings.prefault({}),
});
export type Image = z.infer<typeof Image>;

export const ImageList = z.array(z.object({ Id: z.string(), RepoDigests: Texts }));

export const ContainerList = z.array(
  z.object({ Id: z.string(), Names: Texts, ImageID: z.string(), State: z.string(), Labels }),
);
export type ListedContainer = z.infer<typeof ContainerList>[number];

export const Created = z.object({ Id: z.string().min(12) });
