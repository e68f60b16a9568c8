import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ERROR_CODES } from "../../../src/core/error-codes.ts";
import {
  LOOKS,
  launchChromium,
  screenshot,
  scrollsSideways,
  violations,
  type Look,
} from "../../support/browser/chromium.ts";
import { startConsoleFleet, type ConsoleFleet } from "../../support/browser/console-fleet.ts";

const NODES = 3;
const looks = Object.keys(LOOKS) as Look[];
const patient = { timeout: 60_000 };

let fleet: ConsoleFleet;
let browser: Browser;
let page: Page;
const complaints: string[] = [];

beforeAll(async () => {
  fleet = await startConsoleFleet(NODES);
  browser = await launchChromium();
  page = await (await browser.newContext()).newPage();
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().includes("401")) complaints.push(message.text());
  });
});

afterAll(async () => {
  await browser?.close();
  await fleet?.stop();
});

test("USE-3: without a session the console says how to sign in, and shows nothing of the fleet", async () => {
  const address = new URL(await fleet.signInLink()).origin;
  await page.goto(address);
  await page.getByRole("heading", { name: "Sign in" }).waitFor(patient);
  expect(await page.getByText("edge-1").count()).toBe(0);
  expect(await violations(page)).toEqual([]);
});

test("USE-3: a sign-in link works once, and its code does not stay in the address", async () => {
  const link = await fleet.signInLink();
  await page.goto("about:blank");
  await page.goto(link);
  await page.getByRole("heading", { name: "Fleet", level: 1 }).waitFor(patient);
  expect(page.url()).not.toContain("code=");

  const stranger = await (await browser.newContext()).newPage();
  await stranger.goto(link);
  await stranger.getByRole("heading", { name: "Sign in" }).waitFor(patient);
  await stranger.context().close();
});

test("USE-3: the fleet page shows every machine with its version, in light, dark and on a phone", async () => {
  for (let node = 1; node <= NODES; node++) await page.getByText(`edge-${node}`).first().waitFor(patient);
  for (const look of looks) {
    await screenshot(page, "fleet", look);
    expect(await violations(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
  }
});

test("USE-3: a rollout is started, paused and resumed by keyboard, and watched live until it is completed", async () => {
  const id = await fleet.createRollout();
  await page.setViewportSize(LOOKS.light.viewport);
  await page.goto(new URL(`/rollouts/${id}`, page.url()).href);
  await byKeyboard("Start");
  await status("Running");
  await byKeyboard("Pause", "somebody is at the machine");
  for (const look of looks) await screenshot(page, "rollout-live", look);

  await page.setViewportSize(LOOKS.light.viewport);
  await status("Paused");
  await page.getByText("somebody is at the machine").first().waitFor(patient);
  expect(await button("Pause").isDisabled()).toBe(true);
  for (const look of looks) {
    await screenshot(page, "rollout-paused", look);
    expect(await violations(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
  }

  await page.setViewportSize(LOOKS.light.viewport);
  await byKeyboard("Resume");
  await status("Completed");
  expect(await button("Cancel").isDisabled()).toBe(true);
  expect(await fleet.versions()).toEqual(Array.from({ length: NODES }, () => "2.0.0"));
  for (const look of looks) await screenshot(page, "rollout-completed", look);
  expect(complaints).toEqual([]);
});

test("SNAP-19: the authority page tells live which snapshot a node rejected, why and what to do, by keyboard and in every look", async () => {
  await page.setViewportSize(LOOKS.light.viewport);
  await page.getByRole("link", { name: "Authority" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Authority", level: 1 }).waitFor(patient);
  await page.getByText("Every snapshot is in force.").waitFor(patient);
  await page.getByRole("link", { name: "edge-1" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Authority of edge-1" }).waitFor(patient);
  const row = page.getByRole("row").filter({ hasText: "route_policy" });
  expect(await row.getByText("In force").count()).toBe(1);
  expect(await row.getByText(/\d+ d \d+ h left/).count()).toBe(1);

  const version = await fleet.publishBadlySigned("edge-1");
  await page
    .getByText(`Version ${version} is rejected: check 5 of 12 failed, “the signatures verify”.`)
    .waitFor(patient);
  await page.getByText(ERROR_CODES.SNAPSHOT_SIGNATURE_INVALID.next).waitFor(patient);
  for (const look of looks) {
    await screenshot(page, "authority-node", look);
    expect(await violations(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
  }

  await page.setViewportSize(LOOKS.light.viewport);
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Authority" }).focus();
  await page.keyboard.press("Enter");
  await page
    .getByRole("row")
    .filter({ hasText: "SNAPSHOT_SIGNATURE_INVALID" })
    .getByRole("link", { name: "edge-1" })
    .waitFor(patient);
  for (const look of ["light", "phone"] as const) {
    await screenshot(page, "authority-fleet", look);
    expect(await violations(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
  }
  expect(complaints).toEqual([]);
});

const button = (name: string) =>
  page.getByRole("group", { name: "Rollout controls" }).getByRole("button", { name });

const status = (text: string) =>
  page.getByRole("main").getByText(text, { exact: true }).first().waitFor(patient);

/** No mouse: focus, Enter, type, and Tab to the last button of the dialog. */
async function byKeyboard(name: string, reason = ""): Promise<void> {
  await expect.poll(() => button(name).isEnabled(), patient).toBe(true);
  await button(name).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("textbox").waitFor(patient);
  await page.keyboard.type(reason);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.getByRole("textbox").waitFor({ ...patient, state: "detached" });
}
