/** What happened to a node and why, on the pages of its rollouts and on its own: after two upgrades, a third fails. */
import type { Locator, Page, Route } from "playwright-core";
import { expect, test } from "vitest";
import { ERROR_CODES } from "../../../src/core/error-codes.ts";
import { NodeUpgradeList } from "../../../src/core/protocol/operator-api.ts";
import type { Look } from "../../support/browser/chromium.ts";
import type { ConsoleFleet } from "../../support/browser/console-fleet.ts";

export interface Scene {
  readonly page: Page;
  readonly fleet: ConsoleFleet;
  /** Completed, with another one after it. */
  readonly pastRollout: string;
  open(path: string): Promise<unknown>;
  status(text: string): Promise<void>;
  byKeyboard(control: string, reason?: string): Promise<void>;
  seen(name: string, look: Look): Promise<void>;
}

const ACTIONS = [
  "backup_state",
  "acquire_artifact",
  "verify_artifact",
  "stop_node",
  "install_artifact",
  "write_configs",
  "reload_daemon",
  "start_node",
];
const ALL_DONE = ACTIONS.map((name) => `${name}: done`);
const ENDED_FETCHING = ACTIONS.map((name, at) => `${name}: ${["done", "failed"][at] ?? "not reached"}`);
const patient = { timeout: 60_000 };

/** Each action with what became of it, in the order in which they stand there. */
const told = (where: Locator): Promise<string[]> =>
  where
    .getByRole("listitem")
    .filter({ has: where.page().getByRole("code") })
    .evaluateAll((items) =>
      items.map(
        (item) =>
          `${item.querySelector("code")!.textContent}${item.querySelector(".visually-hidden")!.textContent}`,
      ),
    );

/** The rows as they were before the failure, sent a second after the time that its events carry. */
async function answerAsBefore(route: Route): Promise<void> {
  const response = await route.fetch();
  const { nodes, ...rest } = NodeUpgradeList.parse(await response.json());
  const endedAt = Math.max(...nodes.map((node) => Date.parse(node.ended_at ?? "") || 0));
  await route.fulfill({
    response,
    headers: { ...response.headers(), date: new Date(endedAt + 1_000).toUTCString() },
    json: {
      ...rest,
      nodes: nodes.map((node) => ({ ...node, status: "pending", error_code: null, error_message: null })),
    },
  });
}

export function nodeTimelines(scene: () => Scene): void {
  /** Whichever the seed put into the first batch. */
  let failed = "";
  let damaged = "";
  const panel = () => scene().page.getByRole("region", { name: failed });

  test("ROLL-7: a node that failed shows on its rollout's page at which of the eight actions, why and what to do", async () => {
    const { page, fleet, open, status, seen } = scene();
    damaged = await fleet.startDamaged();
    await open(`/rollouts/${damaged}`);
    await status("Paused");
    const troubles = page.getByRole("region", { name: "Needs attention" });
    await expect.poll(() => troubles.textContent(), patient).toContain("ARTIFACT_DIGEST_MISMATCH");
    const troubled = troubles.getByRole("button", { name: "ARTIFACT_DIGEST_MISMATCH" });
    failed = (await troubled.locator("span").textContent(patient))!;
    await troubled.click();
    await expect.poll(() => told(panel()), patient).toEqual(ENDED_FETCHING);
    expect(await panel().getByText("ARTIFACT_DIGEST_MISMATCH", { exact: true }).count()).toBe(1);
    expect(
      await panel()
        .getByText(/^acquire_artifact: /)
        .count(),
    ).toBe(1);
    expect(await panel().getByText(ERROR_CODES.ARTIFACT_DIGEST_MISMATCH.next).count()).toBe(1);
    for (const look of ["phone", "dark"] as const) await seen("rollout-node-failed", look);
  });

  test("ROLL-7: a page that was opened between a step's decision and its commit shows how it ended", async () => {
    const { page, open, status, byKeyboard } = scene();
    await page.route(/\/nodes\?/, answerAsBefore, { times: 1 });
    await open(`/rollouts/${damaged}`);
    const troubles = page.getByRole("region", { name: "Needs attention" });
    await expect.poll(() => troubles.textContent(), patient).toContain("ARTIFACT_DIGEST_MISMATCH");
    await byKeyboard("Cancel", "the origin serves other bytes");
    await status("Cancelled");
  });

  test("ROLL-7: a past rollout shows its own eight actions of a node, whatever came after them", async () => {
    const { page, pastRollout, open } = scene();
    await open(`/rollouts/${pastRollout}`);
    await page.getByRole("button", { name: failed }).click();
    await expect.poll(() => told(panel()), patient).toEqual(ALL_DONE);
    expect(await panel().getByText("ARTIFACT_DIGEST_MISMATCH").count()).toBe(0);
  });

  test("ROLL-7: a node's page tells its upgrades action by action, and why the last one failed", async () => {
    const { page, seen } = scene();
    await panel().getByRole("link", { name: "Open node page" }).click();
    const attempts = page.getByRole("region", { name: "Upgrades" }).getByRole("article");
    await attempts.first().waitFor(patient);
    expect(await Promise.all((await attempts.all()).map(told))).toEqual([ENDED_FETCHING, ALL_DONE, ALL_DONE]);
    const reasons = page.getByText("ARTIFACT_DIGEST_MISMATCH", { exact: true });
    expect(await attempts.filter({ has: reasons }).count()).toBe(1);
    expect(
      await attempts
        .first()
        .getByText(/^acquire_artifact: /)
        .count(),
    ).toBe(1);
    for (const look of ["light", "phone"] as const) await seen("node-upgrades", look);
  });
}
