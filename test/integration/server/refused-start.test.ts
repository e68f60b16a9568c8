/** Starts that cannot succeed: refused before the engines are started, in words and without a stack. */
import { access, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { commandEnv, FAIRLEAD, NODE } from "../../../src/demo/command.ts";
import { EXIT } from "../../../src/core/error-codes.ts";
import { identityOf } from "../../../src/host/process-identity.ts";
import { writeJsonDurable, ensureDirectory } from "../../../src/host/files.ts";
import { freePort } from "../../support/programs/free-port.ts";
import { ranProcess } from "../../support/cli.ts";

let folder: string;
let taken: Server;
let takenPort: number;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fl-r-"));
  takenPort = await freePort();
  taken = createServer();
  await new Promise<void>((done) => taken.listen(takenPort, "127.0.0.1", done));
});
afterAll(async () => {
  await new Promise((done) => taken.close(done));
  await rm(folder, { recursive: true, force: true });
});

const FLAGS = ["--listen", "--agent-listen", "--enroll-listen", "--metrics-listen", "--handlers-listen"];

async function start(name: string, addresses: Readonly<Record<string, string>> = {}) {
  const dataDir = join(folder, name);
  const listens = await Promise.all(
    FLAGS.map(async (flag) => [flag, addresses[flag] ?? `127.0.0.1:${await freePort()}`]),
  );
  const command = [NODE, FAIRLEAD, "server", "--embedded", "--data-dir", dataDir, ...listens.flat()] as const;
  const ran = await ranProcess(command, commandEnv(folder));
  const hasEngines = await access(join(dataDir, "engines", "postgres")).then(
    () => true,
    () => false,
  );
  return { ...ran, dataDir, hasEngines };
}

const withoutStack = (err: string) => expect(err).not.toMatch(/\bat .*\.(ts|mjs):\d|"stack"/);

test.each(FLAGS)("a port that is taken is refused by its flag %s before the engines start", async (flag) => {
  const address = `127.0.0.1:${takenPort}`;
  const { code, err, hasEngines } = await start(`port${flag}`, { [flag]: address });
  expect(code).toBe(EXIT.conflict);
  expect(err).toContain(`error ADDRESS_UNAVAILABLE: ${flag} ${address}: another program listens there`);
  expect(err).toContain("what to do: Stop what listens there");
  withoutStack(err);
  expect(hasEngines).toBe(false);
});

test("two flags with one address are refused", async () => {
  const address = `127.0.0.1:${await freePort()}`;
  const { code, err } = await start("twice", { "--agent-listen": address, "--enroll-listen": address });
  expect([code, err.includes(`ADDRESS_UNAVAILABLE: --enroll-listen ${address}`)]).toEqual([
    EXIT.conflict,
    true,
  ]);
});

test("an address that this machine does not have is refused", async () => {
  const { err } = await start("elsewhere", { "--listen": "192.0.2.1:7400" });
  expect(err).toMatch(/ADDRESS_UNAVAILABLE: --listen 192\.0\.2\.1:7400: |INVALID_INPUT/);
  withoutStack(err);
});

test("a data folder that a living process holds is refused with that process", async () => {
  const engines = join(folder, "held", "engines");
  await ensureDirectory(engines);
  const holder = identityOf(process.pid);
  await writeJsonDurable(join(engines, "embedded.lock.1"), { holder });
  const { code, err, dataDir, hasEngines } = await start("held");
  expect(code).toBe(EXIT.conflict);
  expect(err).toContain(`error DATA_DIR_IN_USE: ${dataDir} is in use by the process ${process.pid}`);
  expect(err).toContain("what to do: Stop the server that uses the folder");
  withoutStack(err);
  expect(hasEngines).toBe(false);
});

test("a data folder that is a file is refused by its flag", async () => {
  await writeFile(join(folder, "file"), "");
  const { code, err, dataDir } = await start("file");
  expect([code, err.includes(`--data-dir ${dataDir} cannot be used: ENOTDIR`)]).toEqual([EXIT.invalid, true]);
  withoutStack(err);
});

test("agents on every interface without a name are refused with what to set", async () => {
  const { code, err, hasEngines } = await start("nameless", { "--agent-listen": "0.0.0.0:0" });
  expect(code).toBe(EXIT.invalid);
  expect(err).toContain("give --name HOST");
  expect(hasEngines).toBe(false);
});
