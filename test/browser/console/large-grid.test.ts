import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  LOOKS,
  launchChromium,
  screenshot,
  scrollsSideways,
  violations,
  type Look,
} from "../../support/browser/chromium.ts";
import { ROLLOUT_ID, startFakeFleet, type FakeFleet } from "../../support/browser/fake-fleet.ts";

const NODES = 10_000;
const patient = { timeout: 60_000 };

let fleet: FakeFleet;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  fleet = await startFakeFleet(NODES, 500);
  browser = await launchChromium();
  page = await (await browser.newContext()).newPage();
  await page.setViewportSize(LOOKS.light.viewport);
  await page.goto(`${fleet.url}/rollouts/${ROLLOUT_ID}`);
  await grid().waitFor(patient);
});

afterAll(async () => {
  await browser?.close();
  await fleet?.stop();
});

const grid = () => page.getByRole("application", { name: "Nodes by batch" });

test("USE-3: ten thousand nodes are one canvas, not ten thousand elements", async () => {
  expect(await grid().locator("canvas").count()).toBe(1);
  expect(await page.evaluate(() => document.querySelectorAll("*").length)).toBeLessThan(600);
});

test("USE-3: the grid is walked by arrow keys, says where the walk is, and Enter shows the node", async () => {
  await grid().focus();
  const spoken = page.getByRole("status", { name: "Node in focus" });
  await page.keyboard.press("ArrowRight");
  await expect.poll(() => spoken.textContent(), patient).toBe("node-0: Pending, batch 1");
  await page.keyboard.press("ArrowRight");
  await expect.poll(() => spoken.textContent(), patient).toBe("node-1: Pending, batch 1");
  await page.keyboard.press("End");
  await expect.poll(() => spoken.textContent(), patient).toBe("node-9999: Pending, batch 20");
  expect(await page.evaluate(() => window.scrollY)).toBeGreaterThan(500);
  await page.keyboard.press("Home");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "node-0" }).waitFor(patient);
  expect(await page.evaluate(() => window.scrollY)).toBeLessThan(700);
});

test("USE-3: what comes in is drawn in its place, and told as text", async () => {
  await page.evaluate(() => window.scrollTo(0, 0));
  const picture = () =>
    grid()
      .locator("canvas")
      .evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL());
  const before = await picture();
  for (let node = 0; node < 500; node++) fleet.tell(node, node % 8);
  await expect.poll(picture, patient).not.toBe(before);
  await page.getByText("The same as text").click();
  await page
    .getByRole("row")
    .filter({ hasText: "1 of 20" })
    .filter({ hasText: "500 in progress" })
    .waitFor(patient);
  expect(await violations(page)).toEqual([]);
  await page.getByText("The same as text").click();
  await page.evaluate(() => window.scrollTo(0, 300));
  for (const look of Object.keys(LOOKS) as Look[]) {
    await screenshot(page, "rollout-10000", look, false);
    expect(await scrollsSideways(page)).toBe(false);
  }
});
