// The receiver in the guide is run as it stands there, and takes what the server signs.

import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { inRoot } from "../../../scripts/root.mjs";
import { sendMessage } from "../../../src/server/notify/send.ts";
import { freePort } from "../../support/programs/free-port.ts";
import { until } from "../../support/programs/until.ts";

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const OTHER = `whsec_${Buffer.alloc(32, 8).toString("base64")}`;

test("ROLL-19: the guide's receiver takes what is ours once, and refuses what is not", async () => {
  const guide = await readFile(inRoot("docs/guides/notifications.md"), "utf8");
  const [, code = ""] = /```ts\n([\s\S]*?)```/.exec(guide) ?? [];
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), "fairlead-guide-"));
  await symlink(inRoot("node_modules"), join(folder, "node_modules"));
  await writeFile(join(folder, "receiver.mjs"), code.replace("8080", String(port)));
  const child = spawn(process.execPath, ["receiver.mjs"], {
    cwd: folder,
    env: { FAIRLEAD_WEBHOOK_SECRET: SECRET },
  });
  let said = "";
  child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const send = (id: string, secret: string) =>
    sendMessage(
      {
        id,
        secret,
        url: `http://127.0.0.1:${port}/`,
        body: { type: "rollout_started", data: { rollout: { id: "r-1" } } },
      },
      { allowPrivate: true, now: Date.now, signal: new AbortController().signal },
    );
  try {
    await until("it takes the first", async () => (await send("m-1", SECRET)).kind === "taken");
    expect(await send("m-1", SECRET)).toEqual({ kind: "taken", status: 204 });
    expect(await send("m-2", OTHER)).toMatchObject({ kind: "failed", status: 400 });
    expect(await send("m-3", SECRET)).toMatchObject({ kind: "taken" });
    await until("it said both", () => said.split("\n").length === 3);
    expect(said).toBe("rollout_started r-1\nrollout_started r-1\n");
  } finally {
    const ended = new Promise((done) => child.once("exit", done));
    child.kill("SIGKILL");
    await ended;
    await rm(folder, { recursive: true });
  }
});
