// What the tests need of the machine and npm cannot bring. On Debian, root installs it here;
// elsewhere the stages that need it fail and say what is missing. They are never skipped.

import { existsSync } from "node:fs";
import { run } from "../run.mjs";

/** Debian package → a file that is there when it is installed, whoever installed it. */
const PARTS = {
  // The browser without its windows: the same engine at two thirds of the work.
  "chromium-headless-shell": "/usr/bin/chromium-headless-shell",
  "systemd-container": "/usr/bin/systemd-nspawn",
  "docker.io": "/usr/sbin/dockerd",
  iptables: "/usr/sbin/iptables",
  "docker-registry": "/usr/bin/docker-registry",
  "busybox-static": "/bin/busybox",
  "nats-server": "/usr/sbin/nats-server",
  haproxy: "/usr/sbin/haproxy",
  // Interactive shells that the guides are pasted into, and the terminal around them.
  tmux: "/usr/bin/tmux",
  zsh: "/usr/bin/zsh",
  libfaketime: "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
  // Programs for arm64, and the C libraries that they are linked with.
  "qemu-user-static": "/usr/bin/qemu-aarch64-static",
  "libc6-arm64-cross": "/usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1",
  "libstdc++6-arm64-cross": "/usr/aarch64-linux-gnu/lib/libstdc++.so.6",
  // Without a font, screenshots show empty boxes.
  "fonts-dejavu-core": "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
} as const;

export type MachinePart = keyof typeof PARTS;

/** Returns what is still missing afterwards. */
export async function ensureMachineParts(wanted: readonly MachinePart[]): Promise<MachinePart[]> {
  const missing = stillMissing(wanted);
  if (missing.length === 0) return [];
  if (process.getuid?.() === 0 && existsSync("/usr/bin/apt-get")) await aptInstall(missing);
  const left = stillMissing(missing);
  if (left.length > 0) {
    process.stderr.write(
      `fairlead: this machine lacks ${left.join(", ")}; the tests that need it will fail.\n` +
        `fairlead: as root: apt-get install --no-install-recommends ${left.join(" ")}\n`,
    );
  }
  return left;
}

const stillMissing = (parts: readonly MachinePart[]) => parts.filter((part) => !existsSync(PARTS[part]));

async function aptInstall(packages: readonly string[]): Promise<void> {
  process.stderr.write(`fairlead: installing ${packages.join(", ")} with apt\n`);
  const apt = (...args: string[]) =>
    run("apt-get", ["-qq", "-o", "DPkg::Lock::Timeout=120", ...args], {
      // apt's chatter is for stderr, and a package's questions are for nobody.
      stdio: ["ignore", 2, 2],
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    });
  await apt("update");
  await apt("install", "-y", "--no-install-recommends", ...packages);
}
