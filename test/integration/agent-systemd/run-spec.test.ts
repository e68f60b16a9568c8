/** The signed run, as a program on a real host sees it. */
import { chmod, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ensureRunning } from "../../../src/agent/upgrade/ensure-running.ts";
import { RunSpec } from "../../../src/core/upgrade/job.ts";
import { digestOf } from "../../../src/trust/digest.ts";
import { type Hosts, startHosts } from "../../support/hosts/hosts.ts";
import { systemdMachine, type SystemdMachine } from "../../support/hosts/systemd-machine.ts";
import { around } from "../../support/programs/failing-adapter.ts";
import { never, PROFILE } from "../../support/programs/contract-machine.ts";
import { until } from "../../support/programs/until.ts";

/** Says what it was given, byte for byte, and stays. */
const TELLING = `#!/bin/sh
cat /proc/$$/cmdline > "$TOLD/cmdline.new"; cat /proc/$$/environ > "$TOLD/environ.new"; id -un > "$TOLD/user.new"
for part in cmdline environ user; do mv "$TOLD/$part.new" "$TOLD/$part"; done
exec sleep 1000
`;

let hosts: Hosts;
let m: SystemdMachine;
beforeAll(async () => void (hosts = await startHosts({ count: 1 })));
afterAll(async () => hosts.stop());
beforeEach(async () => void (m = await systemdMachine(hosts.all[0]!)));
afterEach(async () => m.close());

let starts = 0;

async function toldBy(run: Partial<RunSpec>) {
  const { install_path, data_dir } = m.program;
  await writeFile(install_path, TELLING);
  await chmod(install_path, 0o755);
  await chmod(m.root, 0o755);
  await chmod(data_dir, 0o777);
  for (const part of ["cmdline", "environ", "user"]) await rm(join(data_dir, part), { force: true });
  const wanted = RunSpec.parse({ ...run, env: { ...run.env, TOLD: data_dir } });
  const key = `telling.forward.${++starts}`;
  await m.adapter().start({ key, fingerprint: digestOf(TELLING), run: wanted }, never());
  const said = async (part: string): Promise<string[]> => {
    const text = await until(`the program told its ${part}`, async () =>
      readFile(join(data_dir, part), "utf8").catch(() => undefined),
    );
    return text.split("\0");
  };
  const words = await said("cmdline");
  const variables = (await said("environ")).map((entry) => [
    entry.slice(0, entry.indexOf("=")),
    entry.slice(entry.indexOf("=") + 1),
  ]);
  return {
    // sh, the script, its arguments, and what comes after the last NUL
    args: words.slice(words.indexOf(install_path) + 1, -1),
    env: Object.fromEntries(variables) as Record<string, string>,
    user: (await said("user")).join("").trim(),
  };
}

const NASTY = [
  ["", " ", "\\", "\\\\", '"', "'", "%", "%%", "%n", "%i", "$", "$$", "$HOME", "${HOME}", "$(id)", "`id`"],
  [
    ";",
    "; ",
    "#",
    "-",
    "--",
    "a b",
    " a",
    "a ",
    "\\n",
    "\\x41",
    "\\s",
    "[Service]",
    "ExecStart=",
    "=",
    "é",
    "漢字",
    "🚢",
  ],
  [
    '"; ExecStartPre=/bin/false "',
    '\\"',
    "@x",
    "+x",
    "!x",
    "\u2028",
    "\u00a0",
    "{}",
    "*",
    "~",
    "|",
    "&&",
    ">x",
  ],
].flat();
/** Whatever a run spec may hold. */
const value = fc
  .string({ unit: "binary", maxLength: 60 })
  .filter((text) => !/[\x00-\x1f\x7f]|\p{Noncharacter_Code_Point}/u.test(text) && text.isWellFormed());

describe("the signed run of a unit", () => {
  it("ROLL-8: arrives as it was signed, whatever characters mean something to systemd", async () => {
    const env = Object.fromEntries(NASTY.map((text, index) => [`V${index}`, text]));
    const told = await toldBy({ args: NASTY, env });
    expect(told.args).toEqual(NASTY);
    expect(told.env).toMatchObject(env);
  });

  it("ROLL-8: arrives as it was signed, whatever it is", async () => {
    const many = fc.tuple(
      fc.array(value, { minLength: 40, maxLength: 80 }),
      fc.array(value, { maxLength: 60 }),
    );
    await fc.assert(
      fc.asyncProperty(many, async ([args, values]) => {
        const env = Object.fromEntries(values.map((text, index) => [`V_${index}`, text]));
        const told = await toldBy({ args, env });
        expect(told.args).toEqual(args);
        expect(told.env).toMatchObject(env);
      }),
      { numRuns: 8, endOnFailure: true },
    );
  });

  it("ROLL-8: sets the user, and says which instance it is", async () => {
    const told = await toldBy({ user: "daemon" });
    expect(told.user).toBe("daemon");
    expect(told.env["FAIRLEAD_INSTANCE_ID"]).toBe(`telling.forward.${starts}.1`);
  });

  it("ROLL-8: a start for other bytes than those that lie there starts nothing", async () => {
    await writeFile(m.program.install_path, TELLING, { mode: 0o755 });
    const request = { key: "other.forward.1", fingerprint: digestOf("other"), run: RunSpec.parse({}) };
    await expect(m.adapter().start(request, never())).rejects.toMatchObject({
      code: "ARTIFACT_DIGEST_MISMATCH",
    });
    expect(await m.adapter().isRunning()).toBe(false);
  });
});

describe("a unit that ran before Fairlead came", () => {
  const dropInOf = async (): Promise<string | undefined> =>
    readFile(join(m.place.systemd!.systemdDir, `${m.unit}.d`, "50-fairlead.conf"), "utf8").catch(
      () => undefined,
    );
  /** As the operator started it, with nothing of ours. */
  async function startByHand(): Promise<void> {
    const { install_path } = m.program;
    const bytes = `#!/bin/sh\nexec sleep 1000\n`;
    await writeFile(install_path, bytes);
    await chmod(install_path, 0o755);
    await hosts.all[0]!.exec("systemctl", "start", m.unit);
  }

  it("ROLL-8: is found running, with its bytes, and left alone", async () => {
    await startByHand();
    const adapter = m.adapter();
    const before = await adapter.running();
    expect(before).toMatchObject({ fingerprint: await m.installed(), restarts: 0 });
    expect(before?.instance_id).toMatch(/^unit\.[0-9a-f]{12}$/);
    const { program, stateDir } = m;
    const ensured = await ensureRunning({ profile: PROFILE, program, adapter, stateDir, signal: never() });
    expect(ensured).toEqual({ kind: "running" });
    expect(await adapter.running()).toEqual(before);
    expect(await dropInOf()).toBeUndefined();
  });

  it("ROLL-5: runs as it did before, when its first upgrade is taken back", async () => {
    await startByHand();
    const installed = await m.installed();
    const job = m.job({ version: "2.0.0" });
    const adapter = around(m.adapter(), "start", async (work, [request]) => {
      await work();
      if ((request as { fingerprint: string }).fingerprint === job.artifact.fingerprint)
        throw new Error("in doubt");
    });
    expect(await m.upgrade(job, { adapter })).toMatchObject({ verdict: "FAILED", compensated: true });
    expect(await m.adapter().running()).toMatchObject({ fingerprint: installed });
    expect(await dropInOf()).not.toContain("LEVEL");
  });

  it("ROLL-5: is not touched when the config does not say how it runs: the way back would lead elsewhere", async () => {
    const path = join(m.place.systemd!.systemdDir, m.unit);
    const text = await readFile(path, "utf8");
    await writeFile(path, text.replace(/^ExecStart=(.*)$/m, "ExecStart=$1 --home /data"));
    await hosts.all[0]!.exec("systemctl", "daemon-reload");
    await startByHand();
    const before = await m.adapter().running();
    expect(await m.upgrade(m.job({ version: "2.0.0" }))).toMatchObject({
      verdict: "FAILED",
      error: { code: "UNIT_DIFFERS", action: "backup_state" },
    });
    expect(await m.adapter().running()).toEqual(before);
  });
});
