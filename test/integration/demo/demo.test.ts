/** `npm run demo -- --once --json`, as root after one that was killed, and as a user in a new clone (USE-1). */
import { expect, onTestFinished, test } from "vitest";
import { cloneForUser } from "../../support/lab/clone.ts";
import { demoPlace, type DemoPlace } from "../../support/lab/demo.ts";

async function expectDemo(place: DemoPlace, machines: number, ...args: string[]): Promise<void> {
  const { code, said, result } = await place.start("--once", "--json", ...args).ended();
  expect(code, said).toBe(0);
  const { status, nodes, seconds } = result();
  expect(status).toBe("completed");
  expect(
    nodes.map(({ name, version_before, version_after }) => [name, version_before, version_after]),
  ).toEqual(Array.from({ length: machines }, (_, at) => [`edge-${at + 1}`, "1.0.0", "2.0.0"]));
  expect(nodes.every((node) => node.seconds !== null && node.seconds > 0)).toBe(true);
  expect(seconds).toBeGreaterThan(0);
  expect(said).toContain("demo: sign in at http://127.0.0.1:");
  expect(await place.leftBehind()).toEqual([]);
}

test("USE-1: after kill -9 of a demo, npm run demo -- --once --json ends what it left, upgrades five machines, says so in its last line and leaves nothing", async () => {
  const place = await demoPlace();
  onTestFinished(() => place.remove());
  const killed = place.start("--nodes", "2");
  await killed.says("batch 1 of 1 begins");
  killed.signal("SIGKILL");
  await killed.ended();
  expect(await place.leftBehind()).not.toEqual([]);
  await expectDemo(place, 5);
}, 300_000);

test("USE-1: the demo works for a user who is not root, in a clone under a 0700 folder", async () => {
  const clone = await cloneForUser();
  onTestFinished(() => clone.remove());
  const place = await demoPlace(clone);
  onTestFinished(() => place.remove());
  await expectDemo(place, 2, "--nodes", "2"); // who runs it does not depend on how many there are
}, 300_000);
