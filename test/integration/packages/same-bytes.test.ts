// Agent and command line, made twice: whoever has the sources can make the bytes that were published.

import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { EXIT } from "../../../src/core/error-codes.ts";
import { FAIRLEAD_VERSION } from "../../../src/core/version.ts";
import { generateSigner } from "../../../src/trust/keys.ts";
import { parseSums } from "../../../src/trust/package-sums.ts";
import { fairleadHere } from "../../support/cli.ts";
import { builtPackages, makePackages, unpackExecutable } from "../../support/packages/built.ts";

let packages: string;
beforeAll(async () => {
  packages = await builtPackages();
}, 600_000);

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), "fairlead-packages-"));
  onTestFinished(() => rm(made, { recursive: true }));
  return made;
}

test("USE-7: agent and command line made twice have the same bytes, and their list is signed with the given key", async () => {
  const above = await folder();
  const [out, key] = [join(above, "out"), join(above, "key.pem")];
  const { signer, pem } = generateSigner();
  await writeFile(key, pem, { mode: 0o600 });
  const publicKey = `-----BEGIN PUBLIC KEY-----\n${signer.record.public_key}\n-----END PUBLIC KEY-----\n`;
  await writeFile(join(above, "key.pub"), publicKey);
  makePackages("--only", "agent", "--only", "cli", "--sign-key", key, "--out", out);

  const list = await readFile(join(out, "SHA256SUMS"), "utf8");
  const first = parseSums(await readFile(join(packages, "SHA256SUMS"), "utf8"));
  const second = parseSums(list);
  expect(second.files.size).toBe(9);
  for (const [name, sum] of second.files) expect([name, first.files.get(name)]).toEqual([name, sum]);
  expect([...first.files.keys()].filter((name) => !second.files.has(name))).toEqual([
    `fairlead-server-${FAIRLEAD_VERSION}-linux-x64.tar.zst`,
    `fairlead-server_${FAIRLEAD_VERSION}_amd64.deb`,
  ]);

  expect([first.signedBy, second.signedBy]).toEqual([null, signer.record.key_id]);
  const verified = await fairleadHere(["package", "verify", out, "--key", join(above, "key.pub")], {});
  expect([verified.code, verified.err]).toEqual([EXIT.ok, ""]);
  expect(
    (await fairleadHere(["package", "verify", packages, "--key", join(above, "key.pub")], {})).code,
  ).toBe(EXIT.untrusted);
  // Without Fairlead:
  expect(
    spawnSync("/usr/bin/sha256sum", ["--check", "--strict", "--quiet", "SHA256SUMS"], { cwd: out }).status,
  ).toBe(0);
  await writeFile(
    join(above, "sig"),
    Buffer.from(await readFile(join(out, "SHA256SUMS.sig"), "utf8"), "base64"),
  );
  const checked = spawnSync(
    "/usr/bin/openssl",
    [
      "pkeyutl",
      "-verify",
      "-pubin",
      "-inkey",
      join(above, "key.pub"),
      "-rawin",
      "-in",
      "SHA256SUMS",
      "-sigfile",
      join(above, "sig"),
    ],
    { cwd: out, encoding: "utf8" },
  );
  expect(checked.stdout).toContain("Signature Verified Successfully");
}, 600_000);

test("USE-7: the executables need no Node beside them and say nothing but their version", async () => {
  const into = await folder();
  const env = { PATH: "/nonexistent", HOME: into };
  const said = (name: string, ...args: string[]) => {
    const file = unpackExecutable(packages, name, "x64", into);
    const { status, stdout, stderr } = spawnSync(file, args, { env, encoding: "utf8" });
    return { status, stdout, stderr };
  };
  expect(said("fairlead-agent", "--version")).toEqual({
    status: 0,
    stdout: `${FAIRLEAD_VERSION}\n`,
    stderr: "",
  });
  expect(said("fairlead-agent", "--help").stdout).toContain("Usage: ");
  expect(said("fairlead", "--version")).toMatchObject({
    status: 0,
    stdout: expect.stringContaining(`fairlead ${FAIRLEAD_VERSION} (node v24.`) as string,
    stderr: "",
  });
  expect(said("fairlead", "--help").stdout).toContain("rollout");
  expect(said("fairlead", "server", "--help")).toMatchObject({
    status: EXIT.failed,
    stdout: "",
    stderr: expect.stringContaining("what to do: install the package fairlead-server") as string,
  });
});
