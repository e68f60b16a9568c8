// The tour of README.md, as its reader takes it: the demo in one terminal, the blocks pasted into an interactive bash in
// another.

import { readFile } from "node:fs/promises";
import { expect, onTestFinished, test } from "vitest";
import { inRoot } from "../../../scripts/root.mjs";
import { openShell, shellBlocks } from "../../support/docs/pasted-shell.ts";
import { demoPlace } from "../../support/lab/demo.ts";

const tourTimeoutMs = 300_000;

test(
  "USE-1: the README's tour works when it is pasted into an interactive bash, and leaves nothing behind",
  { timeout: tourTimeoutMs },
  async () => {
    const blocks = shellBlocks(await readFile(inRoot("README.md"), "utf8"), "Five-minute tour");
    const place = await demoPlace();
    onTestFinished(() => place.remove());
    const demo = place.start();
    await demo.says("all 5 programs answer with version 2.0.0");
    const shell = await openShell("bash", inRoot("."), { ...place.env, TERM: "screen" });
    onTestFinished(() => shell.close());
    const shown = new Map<string, string>();
    for (const block of blocks) shown.set(block, await shell.paste(block));
    const afterBlockWith = (command: string): string =>
      [...shown].find(([block]) => block.includes(command))?.[1] ?? "";

    const fleet = afterBlockWith("fairlead whoami");
    expect(fleet).toMatch(/^intents +required$/m);
    expect(fleet.match(/^edge-\d .* 2\.0\.0 /gm)).toHaveLength(5);
    expect(fleet).toMatch(/^ *running +sha256:[0-9a-f]{64}$/m);
    expect(fleet).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#code=\S+$/m);

    const upgrade = afterBlockWith("fairlead rollout pause");
    expect(upgrade).toMatch(/^target_version: 3\.0\.0$/m);
    expect(upgrade).toContain("exit code 9");
    expect(upgrade).toMatch(/^rollout [0-9a-f]{8} .* completed /m);

    const bad = afterBlockWith('v4.0.0.yaml" --type edge --source-version 3.0.0 \\\n');
    expect(bad).toContain("exit code 9");
    expect(bad.match(/^1 +edge-\d +failed .* PROGRAM_NOT_RUNNING/gm)).toHaveLength(2);
    expect(bad.match(/^edge-\d .* 3\.0\.0 /gm)).toHaveLength(5);

    const unsigned = afterBlockWith("--no-sign");
    expect(unsigned).toContain("INTENT_REQUIRED");
    expect(unsigned).toContain("exit code 8");
    expect(unsigned).toMatch(/^edge-5 +\w+ +revoked /m);

    await shell.close();
    demo.signal("SIGINT");
    await demo.ended();
    expect(await place.leftBehind()).toEqual([]);
  },
);

test("USE-1: npm run demo -- --env without a demo says how to start one, and prints nothing to evaluate", async () => {
  const place = await demoPlace();
  onTestFinished(() => place.remove());
  const { code, said, out } = await place.start("--env").ended();
  expect([code, out]).toEqual([1, ""]);
  expect(said).toContain("start one in another terminal with: npm run demo");
});
