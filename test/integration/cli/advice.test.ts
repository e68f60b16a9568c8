// The last words of agent, server, backup and command line, as processes: the advice fits the place where it is read.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ERROR_CODES } from "../../../src/core/error-codes.ts";
import { ranProcess } from "../../support/cli.ts";

const BIN = fileURLToPath(new URL("../../../bin/fairlead.mjs", import.meta.url));
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fl-advice-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const fairlead = (...words: string[]) =>
  ranProcess([process.execPath, BIN, ...words], { HOME: folder, PATH: "/usr/bin:/bin" });
const whatToDo = (advice: string | undefined) => `what to do: ${advice}\n`;

test("USE-4: an agent whose config is missing is told about the path on the node, not about an id", async () => {
  const ran = await fairlead("agent", "--config", join(folder, "agent.yaml"));
  expect(ran.code).toBe(5);
  expect(ran.err).toContain("error FILE_NOT_FOUND: ");
  expect(ran.err).toContain(whatToDo(ERROR_CODES.FILE_NOT_FOUND.at.node));
});

test("USE-4: an agent whose config is wrong is told to correct the config, not to send a request", async () => {
  const config = join(folder, "wrong.yaml");
  await writeFile(config, "no_such_key: 1\n");
  const ran = await fairlead("agent", "--config", config);
  expect(ran.err).toContain("error INVALID_INPUT: ");
  expect(ran.err).toContain(whatToDo(ERROR_CODES.INVALID_INPUT.at.node));
});

test("USE-4: a server with a wrong option is told to correct it and to start again", async () => {
  const ran = await fairlead("server", "--data-dir", join(folder, "site"));
  expect(ran.err).toContain("error INVALID_INPUT: ");
  expect(ran.err).toContain(whatToDo(ERROR_CODES.INVALID_INPUT.at.server));
});

test("USE-4: a restore from a file that is not there is told to check the path", async () => {
  const ran = await fairlead("restore", join(folder, "none"), "--data-dir", join(folder, "restored"));
  expect(ran.err).toContain("error FILE_NOT_FOUND: ");
  expect(ran.err).toContain(whatToDo(ERROR_CODES.FILE_NOT_FOUND.at.server));
});

test.each(["server", "agent", "backup", "restore"])(
  "USE-2: `fairlead help %s` shows the program's own help",
  async (program) => {
    const [help, flag] = [await fairlead("help", program), await fairlead(program, "--help")];
    expect(help).toMatchObject({ code: 0, out: flag.out, err: "" });
    expect(help.out).toContain(`Usage: fairlead ${program}`);
  },
);
