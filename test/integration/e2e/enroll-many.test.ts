/** Machines that join with one key, by the command line and the shipped agent. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { enroll } from "../../../src/agent/identity/enroll.ts";
import type { NodeView } from "../../../src/core/protocol/operator-api.ts";
import { commandEnv, FAIRLEAD, NODE } from "../../../src/demo/command.ts";
import { systemClock } from "../../../src/host/clock.ts";
import { eventually } from "../../support/lab/eventually.ts";
import { startLab, type Lab } from "../../support/lab/lab.ts";

let lab: Lab;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(async () => lab.stop());

async function makeKey(name: string, ...more: string[]): Promise<string> {
  const file = join(lab.folder, `${name}.key`);
  const words = ["--profile", "web", "--type", "edge", "--out", file, ...more];
  const made = await lab.operator.fairlead("node", "enroll-key", "create", name, ...words);
  expect(made.code).toBe(0);
  return file;
}

async function startAgent(name: string, tokenFile: string): Promise<void> {
  const folder = join(lab.folder, name);
  await mkdir(folder, { mode: 0o700 });
  const config = {
    data_dir: join(folder, "agent"),
    enroll_url: lab.enrollUrl,
    token_file: tokenFile,
    node_name: name,
    programs: {},
  };
  await writeFile(join(folder, "agent.json"), JSON.stringify(config), { mode: 0o600 });
  const args = [FAIRLEAD, "agent", "--config", join(folder, "agent.json")];
  await lab.processes.start(`agent-${name}`, NODE, args, { env: commandEnv(lab.home) });
}

/** Undefined before its machine has asked. */
const nodeNamed = async (name: string): Promise<NodeView | undefined> => lab.operator.node(name);

const isHeard = (name: string) =>
  eventually(`${name} is heard`, async () => typeof (await nodeNamed(name))?.last_heartbeat_at === "string");

test("USE-7: agents enroll with one key and report under their own names", async () => {
  const file = await makeKey("pair", "--uses", "2");
  await Promise.all(["pair-1", "pair-2"].map((name) => startAgent(name, file)));
  await Promise.all(["pair-1", "pair-2"].map(isHeard));
  const listed = await lab.operator.fairlead("node", "enroll-key", "list");
  expect(listed.out).toMatch(/^pair\s+\w+\s+2 of 2\s+-\s+web\s+\S+\s+used up$/m);
});

test("USE-7: an agent waits for its approval, says which key it has, and reports once it is approved", async () => {
  const file = await makeKey("gate", "--uses", "1", "--approve");
  await startAgent("gate-1", file);
  const { pending } = await eventually("gate-1 waits", async () => {
    const node = await nodeNamed("gate-1");
    return node !== undefined && node.pending !== null && node;
  });
  const log = await eventually("the agent says so", async () => {
    const text = await readFile(join(lab.folder, "agent-gate-1.log"), "utf8");
    return text.includes("waits for approval") && text;
  });
  expect(log).toContain(pending!.key_id);
  expect((await lab.operator.fairlead("node", "show", "gate-1")).out).toContain(pending!.key_id);
  expect((await lab.operator.fairlead("node", "list")).out).toMatch(/^gate-1 .* pending /m);
  expect((await lab.operator.fairlead("node", "approve", "--all")).out).toContain("node gate-1 is approved");
  await isHeard("gate-1");
});

test("USE-7: two hundred machines enroll at once with one key", async () => {
  const token = (await readFile(await makeKey("rack", "--uses", "200"), "utf8")).trim();
  const names = Array.from({ length: 200 }, (_, at) => `rack-${at}`);
  const enrolled = await Promise.all(
    names.map(async (nodeName) =>
      enroll(
        { enrollUrl: lab.enrollUrl, token, dataDir: join(lab.folder, "rack", nodeName), nodeName },
        systemClock,
      ),
    ),
  );
  expect(enrolled.map(({ kind }) => kind)).toEqual(names.map(() => "enrolled"));
  const late = enroll(
    { enrollUrl: lab.enrollUrl, token, dataDir: join(lab.folder, "rack", "late"), nodeName: "late" },
    systemClock,
  );
  await expect(late).rejects.toMatchObject({
    code: "ENROLLMENT_REFUSED",
    message: "enrollment key rack was used 200 times and allows no more",
  });
});
