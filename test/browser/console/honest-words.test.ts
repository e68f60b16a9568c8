// What the console says while it does not know yet, and of nodes that are not heard from. The API's answers are held
// back or given by the test, so that each moment lasts as long as it is looked at.

import type { Browser, Page, Route } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { claimedProgram, contactOf } from "../../../src/core/health/claim.ts";
import { LIMITS } from "../../../src/core/limits.ts";
import { NodeList, type NodeView } from "../../../src/core/protocol/operator-api.ts";
import {
  LOOKS,
  launchChromium,
  screenshot,
  scrollsSideways,
  violations,
  type Look,
} from "../../support/browser/chromium.ts";
import { ROLLOUT_ID, startFakeFleet, type FakeFleet } from "../../support/browser/fake-fleet.ts";
import { fleetNode, program } from "../../unit/console/samples.ts";

const patient = { timeout: 60_000 };

let fleet: FakeFleet;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  fleet = await startFakeFleet(4, 2);
  browser = await launchChromium();
});
beforeEach(async () => {
  await page?.context().close();
  page = await (await browser.newContext({ viewport: LOOKS.light.viewport })).newPage();
});
afterAll(async () => {
  await browser?.close();
  await fleet?.stop();
});

/** Answers wait until they are let go. */
async function hold(path: RegExp): Promise<() => Promise<void>> {
  const held: Route[] = [];
  let isHeld = true;
  await page.route(path, (route) => (isHeld ? void held.push(route) : route.continue()));
  return async () => {
    isHeld = false;
    await Promise.all(held.map((route) => route.continue()));
  };
}

test("USE-3: a page opened with a session says that it reads, not that it signs in", async () => {
  const release = await hold(/\/whoami$/);
  await page.goto(fleet.url);
  await page.getByText("Reading from the server…").waitFor(patient);
  expect(await page.getByText("Signing in…").count()).toBe(0);
  await release();
  await page.getByRole("heading", { name: "Fleet", level: 1 }).waitFor(patient);
});

test("USE-3: a page opened by a sign-in link says that it signs in", async () => {
  const release = await hold(/\/auth\/session$/);
  await page.goto(`${fleet.url}/#code=0123456789abcdef`);
  await page.getByText("Signing in…").waitFor(patient);
  await release();
  await page.getByRole("heading", { name: "Fleet", level: 1 }).waitFor(patient);
});

test("USE-3: a timeline that is not read yet says so, and never that nothing has happened", async () => {
  const release = await hold(/\/rollouts\/[^/]+\/events/);
  await page.goto(`${fleet.url}/rollouts/${ROLLOUT_ID}`);
  await page.getByText("Reading the timeline…").waitFor(patient);
  expect(await page.getByText("Nothing has happened yet").count()).toBe(0);
  await release();
  await expect.poll(() => fleet.readers(), patient).toBe(1);
  await page.getByText("Reading the timeline…").waitFor(patient);
  expect(await page.getByText("Nothing has happened yet").count()).toBe(0);
  fleet.fail(0, "HEALTH_CRITICAL", "probe refused");
  await page.getByText("HEALTH_CRITICAL: probe refused").first().waitFor(patient);
  expect(await page.getByText("Reading the timeline…").count()).toBe(0);
});

test("ROLL-30: seven of twelve nodes that are down are shown as unknown with an age, in light, dark and on a phone", async () => {
  const nodes = Array.from({ length: 12 }, (_, index) => nodeAt(index, index < 7));
  await page.route(/\/api\/v1\/nodes\?/, (route) =>
    route.fulfill({ json: NodeList.parse({ nodes, next_cursor: null }) }),
  );
  await page.route(/\/api\/v1\/rollouts\?/, (route) =>
    route.fulfill({ json: { rollouts: [], next_cursor: null } }),
  );
  await page.goto(fleet.url);
  const summary = page.getByRole("region", { name: "Summary" });
  const counted = async () => (await summary.getByRole("button").allTextContents()).join(", ");
  await expect.poll(counted, patient).toContain("Down7");
  expect(await counted()).toContain("Healthy5, Degraded0, Critical0, Unknown7");
  const row = page.getByRole("row", { name: /edge-00/ });
  expect(await row.textContent()).toMatch(/Unknown *3 min old/);
  expect(await row.textContent()).not.toMatch(/Healthy|Synced/);
  for (const look of Object.keys(LOOKS) as Look[]) {
    await screenshot(page, "fleet-down", look);
    expect(await scrollsSideways(page)).toBe(false);
  }
  expect(await violations(page)).toEqual([]);
});

function nodeAt(index: number, isDown: boolean): NodeView {
  const now = Date.now();
  const heardAt = now - (isDown ? LIMITS.heartbeatLostMs + 12_000 : 4_000);
  const heard = new Date(heardAt).toISOString();
  const state = isDown ? "down" : "active";
  const contact = contactOf({ state, isEnrolled: true, isRevoked: false, heardAt }, now);
  const { as_of: _at, last_reported, ...said } = program({ version: "1.2.0", started_at: heard });
  return fleetNode(index, {
    name: `edge-${String(index).padStart(2, "0")}`,
    state,
    contact,
    last_heartbeat_at: heard,
    programs: [claimedProgram({ ...said, ...last_reported }, contact, heard)],
  });
}
