import type { Browser, Locator, Page } from "playwright-core";
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
import { nodeTimelines } from "./node-timelines.ts";

const NODES = 3;
const looks = Object.keys(LOOKS) as Look[];
const patient = { timeout: 60_000 };

let fleet: ConsoleFleet;
let browser: Browser;
let page: Page;
let pastRollout: string;
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
  for (const look of looks) await seen("fleet", look);
});

test("USE-3: a rollout is started, paused and resumed by keyboard, and watched live until it is completed", async () => {
  pastRollout = await fleet.createRollout();
  await page.setViewportSize(LOOKS.light.viewport);
  await open(`/rollouts/${pastRollout}`);
  await byKeyboard("Start");
  await status("Running");
  await byKeyboard("Pause", "somebody is at the machine");
  for (const look of looks) await screenshot(page, "rollout-live", look);

  await page.setViewportSize(LOOKS.light.viewport);
  await status("Paused");
  await page.getByText("somebody is at the machine").first().waitFor(patient);
  expect(await button("Pause").isDisabled()).toBe(true);
  for (const look of looks) await seen("rollout-paused", look);

  await page.setViewportSize(LOOKS.light.viewport);
  await byKeyboard("Resume");
  await status("Completed");
  expect(await button("Cancel").isDisabled()).toBe(true);
  expect(await fleet.versions()).toEqual(Array.from({ length: NODES }, () => "2.0.0"));
  for (const look of looks) await screenshot(page, "rollout-completed", look);
  expect(complaints).toEqual([]);
});

test("ROLL-12: a breaking canary waits with its gate in view, and is approved by keyboard with a reason", async () => {
  const id = await fleet.startCanary();
  await page.setViewportSize(LOOKS.light.viewport);
  await open(`/rollouts/${id}`);
  await page.getByText("Waits for approval").waitFor(patient);
  expect(await button("Resume").isDisabled()).toBe(true);
  const gate = page.getByRole("region", { name: "Canary gate" });
  expect(await gate.getByText("Succeeded").count()).toBe(1);
  await gate.getByText("an approval with a reason").waitFor(patient);
  for (const look of looks) await seen("rollout-canary", look);

  await page.setViewportSize(LOOKS.light.viewport);
  await gate.getByRole("button", { name: "Approve canary" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("textbox").waitFor(patient);
  await confirm(); // without a reason: refused
  await page.getByText("A reason is required.").waitFor(patient);
  await page.getByRole("textbox").focus();
  await page.keyboard.type("blocks follow, peers are fine");
  await confirm();
  await status("Completed");
  await page.getByText("blocks follow, peers are fine").first().waitFor(patient);
  expect(await fleet.versions()).toEqual(Array.from({ length: NODES }, () => "3.0.0"));

  await button("Roll back").click(); // asks for the profile's name before it does anything
  const sure = page.getByRole("alertdialog", { name: "Roll this rollout back?" });
  await sure.getByRole("button", { name: "Roll back" }).click();
  await sure.getByText("Type hello to confirm.", { exact: true }).waitFor(patient);
  expect(await violations(page)).toEqual([]);
  await sure.getByRole("button", { name: "Keep rollout" }).click();
});

nodeTimelines(() => ({ page, fleet, pastRollout, open, status, byKeyboard, seen }));

test("ROLL-11: a group is started by keyboard and goes through its gate to the end", async () => {
  await page.setViewportSize(LOOKS.light.viewport);
  await open(`/groups/${await fleet.createGroup()}`);
  await page.getByText("Then health is watched for 2 s").waitFor(patient);
  await press(page.getByRole("group", { name: "Group controls" }).getByRole("button", { name: "Start" }));
  await page.getByText(/Health is watched for another|Healthy: the next one began/).waitFor(patient);
  for (const look of looks) await seen("group", look);
  await status("Completed");
  expect(await fleet.versions()).toEqual(Array.from({ length: NODES }, () => "4.0.0"));
});

test("ROLL-19: an incident shows in the navigation as it opens, and is resolved with a note", async () => {
  await page.setViewportSize(LOOKS.light.viewport);
  await open("/incidents");
  await page.getByText("There has been no incident.").waitFor(patient);
  await fleet.openIncident("edge-3");
  await page.getByRole("link", { name: "Incidents 1 open" }).waitFor(patient);
  await page.getByRole("link", { name: "edge-3 did not come back" }).waitFor(patient);
  for (const look of ["dark", "phone"] as const) await seen("incidents", look);

  await page.setViewportSize(LOOKS.light.viewport);
  await page.getByRole("link", { name: "edge-3 did not come back" }).click();
  await page.getByText("2. Restore the volume of the night before.").waitFor(patient);
  await seen("incident", "light");
  await page.setViewportSize(LOOKS.light.viewport);
  const controls = page.getByRole("group", { name: "Incident controls" });
  await press(controls.getByRole("button", { name: "Resolve" }), "volume restored");
  await page.getByText("volume restored").waitFor(patient);
  await page.getByRole("link", { name: "Incidents 0 open" }).waitFor(patient);
});

test("ROLL-19: a webhook's secret is shown once, and what was sent to it can be sent again", async () => {
  await open("/webhooks");
  await page.getByRole("button", { name: "Add webhook" }).click();
  await page.getByRole("textbox", { name: "Name" }).fill("on-call");
  await page.getByRole("textbox", { name: "Address" }).fill("https://hooks.invalid/fairlead");
  await page.getByRole("alertdialog").getByRole("button", { name: "Add webhook" }).click();
  await page.getByText(/^whsec_/).waitFor(patient);
  expect(await violations(page)).toEqual([]);
  await page.getByRole("button", { name: "I have kept it" }).click();
  expect(await page.getByText(/whsec_/).count()).toBe(0);
  await page.getByRole("button", { name: "Test on-call" }).click();
  await page.getByRole("button", { name: "Deliveries of on-call" }).click();
  await page.getByRole("button", { name: "Send again: test" }).waitFor(patient);
  for (const look of ["dark", "phone"] as const) await seen("webhooks", look);
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
  for (const look of looks) await seen("authority-node", look);

  await page.setViewportSize(LOOKS.light.viewport);
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Authority" }).focus();
  await page.keyboard.press("Enter");
  await page
    .getByRole("row")
    .filter({ hasText: "SNAPSHOT_SIGNATURE_INVALID" })
    .getByRole("link", { name: "edge-1" })
    .waitFor(patient);
  for (const look of ["light", "phone"] as const) await seen("authority-fleet", look);

  await page.setViewportSize(LOOKS.light.viewport);
  await page.getByRole("link", { name: "Incidents 1 open" }).click();
  await page
    .getByRole("link", { name: "edge-1 refuses snapshot route_policy: SNAPSHOT_SIGNATURE_INVALID" })
    .waitFor(patient);
  for (const look of looks) await seen("incidents-snapshot", look);
  expect(complaints).toEqual([]);
});

test("ROLL-30: a node that does not answer is given up by its own button, and the silent ones by the rollout's, by keyboard and with a reason", async () => {
  const id = await fleet.startUnanswered();
  await page.setViewportSize(LOOKS.light.viewport);
  await open(`/rollouts/${id}`);
  await status("Running");
  expect(await button("Give up silent").isDisabled()).toBe(true); // no node is silent yet
  await page.getByRole("button", { name: "edge-1" }).click();
  const panel = page.getByRole("region", { name: "edge-1" });
  await press(panel.getByRole("button", { name: "Give up" }), "the machine is in a box");
  await panel.getByText("GIVEN_UP", { exact: true }).waitFor(patient);
  await panel.getByText(/gave it up: the machine is in a box/).waitFor(patient);
  // It is not at work any more.
  await expect.poll(() => panel.getByRole("button", { name: "Give up" }).isDisabled(), patient).toBe(true);

  await fleet.passSilence(id);
  await expect.poll(() => button("Give up silent").isEnabled(), patient).toBe(true);
  await page
    .getByText(/2 silent/)
    .first()
    .waitFor(patient);
  for (const look of ["dark", "phone"] as const) await seen("rollout-silent", look);
  await page.setViewportSize(LOOKS.light.viewport);
  await button("Give up silent").click();
  const sure = page.getByRole("alertdialog", { name: "Give the silent nodes up?" });
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press("Escape"); // asked first: nothing has happened
  await sure.waitFor({ ...patient, state: "detached" });
  expect(await button("Give up silent").isEnabled()).toBe(true);
  await byKeyboard("Give up silent", "the rack is dark");
  await status("Paused");
  await page.getByText("the rack is dark").first().waitFor(patient);
  await expect.poll(() => button("Give up silent").isDisabled(), patient).toBe(true); // counted with the next news
  expect(complaints).toEqual([]);
});

const button = (name: string) =>
  page.getByRole("group", { name: "Rollout controls" }).getByRole("button", { name });

/** The page's own, not that of one of its parts. */
const status = (text: string) =>
  page.locator(".rollout-title").getByText(text, { exact: true }).waitFor(patient);

const open = (path: string) => page.goto(new URL(path, page.url()).href);

async function seen(name: string, look: Look): Promise<void> {
  await screenshot(page, name, look);
  expect(await violations(page)).toEqual([]);
  expect(await scrollsSideways(page)).toBe(false);
}

/** No mouse: focus, Enter, type, and Tab to the last button of the dialog. */
async function press(target: Locator, reason = ""): Promise<void> {
  await expect.poll(() => target.isEnabled(), patient).toBe(true);
  await target.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("textbox").waitFor(patient);
  await page.keyboard.type(reason);
  await confirm();
  await page.getByRole("textbox").waitFor({ ...patient, state: "detached" });
}

const byKeyboard = (name: string, reason = "") => press(button(name), reason);

async function confirm(): Promise<void> {
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
}
