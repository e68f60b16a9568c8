/** What a container hands on to the one that takes its place, field by field of the engine's API. Nothing else is. */

/** Of `Config`, as far as they are not the old image's. Environment, user, arguments and labels have rules of their own. */
export const SETTINGS: readonly string[] = words(
  "Domainname Entrypoint ExposedPorts Healthcheck MacAddress NetworkDisabled OpenStdin StdinOnce",
  "StopSignal StopTimeout Tty Volumes WorkingDir",
);

/** Of `HostConfig`. The restart policy has rules of its own. */
export const HOST_SETTINGS: readonly string[] = [
  ...reaches(),
  ...mayDo(),
  ...mayUse(),
  ...words("Annotations Init LogConfig Runtime"),
];

function reaches(): string[] {
  return words(
    "Binds Mounts Tmpfs VolumeDriver VolumesFrom",
    "NetworkMode PortBindings PublishAllPorts Links Dns DnsOptions DnsSearch ExtraHosts",
    "Devices DeviceCgroupRules DeviceRequests",
  );
}

function mayDo(): string[] {
  return words(
    "CapAdd CapDrop GroupAdd Privileged ReadonlyRootfs SecurityOpt Sysctls UsernsMode",
    "IpcMode PidMode UTSMode CgroupnsMode Cgroup CgroupParent MaskedPaths ReadonlyPaths",
  );
}

function mayUse(): string[] {
  return words(
    "Memory MemoryReservation MemorySwap MemorySwappiness OomKillDisable OomScoreAdj ShmSize StorageOpt",
    "NanoCpus CpuShares CpuPeriod CpuQuota CpuRealtimePeriod CpuRealtimeRuntime CpusetCpus CpusetMems",
    "BlkioWeight BlkioWeightDevice BlkioDeviceReadBps BlkioDeviceWriteBps BlkioDeviceReadIOps BlkioDeviceWriteIOps",
    "PidsLimit Ulimits",
  );
}

function words(...lines: readonly string[]): string[] {
  return lines.flatMap((line) => line.split(" "));
}
