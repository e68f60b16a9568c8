/** The root of a host: this machine's `/usr`, and an `/etc` with what a boot needs and no service of this machine's. */
import { randomBytes } from "node:crypto";
import { cp, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

const FROM_THIS_MACHINE = [
  "passwd",
  "group",
  "nsswitch.conf",
  "ld.so.conf",
  "ld.so.conf.d",
  "ld.so.cache",
  "alternatives",
  "pam.d",
];

/** They look for disks and getties at each daemon-reload; a host of ours has none. */
const GENERATORS = "system-generators";
const NOT_NEEDED = ["systemd-logind.service", "systemd-update-utmp.service", "systemd-user-sessions.service"];

/** The packages of this machine are installed there, as far as dpkg knows. */
export async function makePackageDatabase(root: string): Promise<void> {
  await cp("/var/lib/dpkg", join(root, "var/lib/dpkg"), { recursive: true });
  for (const name of ["shadow", "gshadow", "login.defs"])
    await cp(join("/etc", name), join(root, "etc", name));
}

export async function makeRoot(root: string): Promise<void> {
  const folders = [
    "usr",
    "etc/systemd/system",
    join("etc/systemd", GENERATORS),
    "etc/systemd/system-preset",
    "etc/systemd/system.conf.d",
  ];
  for (const folder of [...folders, "var", "opt", "root"])
    await mkdir(join(root, folder), { recursive: true });
  for (const name of ["bin", "sbin", "lib", "lib64"]) await symlink(`usr/${name}`, join(root, name));
  for (const name of FROM_THIS_MACHINE) {
    await cp(join("/etc", name), join(root, "etc", name), { recursive: true, verbatimSymlinks: true });
  }
  const files = {
    "os-release": await readFile("/usr/lib/os-release"),
    "machine-id": `${randomBytes(16).toString("hex")}\n`,
    "systemd/system-preset/00-none.preset": "disable *\n",
    // A program that hangs must not hold up the end of a test.
    "systemd/system.conf.d/lab.conf": "[Manager]\nDefaultTimeoutStopSec=5s\n",
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(root, "etc", name), content);
  for (const name of await readdir(join("/usr/lib/systemd", GENERATORS))) {
    await symlink("/dev/null", join(root, "etc/systemd", GENERATORS, name));
  }
  for (const unit of NOT_NEEDED) await symlink("/dev/null", join(root, "etc/systemd/system", unit));
  await symlink("/usr/lib/systemd/system/multi-user.target", join(root, "etc/systemd/system/default.target"));
}
