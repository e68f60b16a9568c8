/**
 * GRID: whether the rollout's page stays smooth while thousands of nodes move.
 *
 * 1. An empty page of the same browser is measured in turns with ours, so that both see the same machine.
 * 2. What did not arrive is not measured: the picture must have changed.
 */
import type { Browser, Page } from "playwright-core";
import { LOOKS, launchChromium } from "../test/support/browser/chromium.ts";
import { ROLLOUT_ID, startFakeFleet } from "../test/support/browser/fake-fleet.ts";
import { sleep } from "../src/host/clock.ts";
import { frameTimes, LONG_MS, watchFrames, type FrameTimes } from "./grid/frames.ts";
import { eventStream } from "./grid/stream.ts";
import type { Also, Measurement } from "./support/measurement.ts";
import type { Workplace } from "./support/workplace.ts";

const BATCH_SIZE = 500;
const EVENTS_PER_SECOND = 1_000;
const ROUNDS = 3;
const WARM_MS = 2_000;
/** Long enough for the page to read all its rows again, once. */
const WATCH_MS = 12_000;
const SCROLL_PX = 12;
const OPEN_TIMEOUT_MS = 60_000;

export async function run(place: Workplace): Promise<Measurement> {
  const { nodes } = place.options;
  const fleet = await startFakeFleet(nodes, BATCH_SIZE);
  place.undo("fleet", () => fleet.stop());
  const stream = eventStream(fleet, nodes);
  const browser = await launchChromium({ leavesSignals: true });
  place.undo("browser", () => browser.close());

  const seen = { empty: [] as number[], resting: [] as number[], scrolled: [] as number[] };
  for (let round = 1; round <= ROUNDS && !place.signal.aborted; round += 1) {
    place.say(`GRID: round ${round} of ${ROUNDS}, ${nodes} nodes, ${EVENTS_PER_SECOND} events/s`);
    seen.empty.push(...(await onPage(browser, "about:blank", (page) => watchFrames(page, WATCH_MS)))); // (1)
    const ours = await onPage(browser, `${fleet.url}/rollouts/${ROLLOUT_ID}`, (page) =>
      watchGrid(page, () => stream.start(EVENTS_PER_SECOND)),
    );
    seen.resting.push(...ours.resting);
    seen.scrolled.push(...ours.scrolled);
  }
  return measurementOf(frameTimes(seen.resting), frameTimes(seen.scrolled), frameTimes(seen.empty));
}

async function onPage<T>(browser: Browser, url: string, work: (page: Page) => Promise<T>): Promise<T> {
  const context = await browser.newContext({ viewport: LOOKS.light.viewport });
  try {
    const page = await context.newPage();
    await page.goto(url);
    return await work(page);
  } finally {
    await context.close();
  }
}

async function watchGrid(page: Page, start: () => () => void) {
  const canvas = page.getByRole("application", { name: "Nodes by batch" }).locator("canvas");
  await canvas.waitFor({ timeout: OPEN_TIMEOUT_MS });
  const picture = () => canvas.evaluate((element: HTMLCanvasElement) => element.toDataURL());
  const stop = start();
  try {
    await sleep(WARM_MS);
    const before = await picture();
    const resting = await watchFrames(page, WATCH_MS);
    if ((await picture()) === before) throw new Error("no event was drawn"); // (2)
    return { resting, scrolled: await watchFrames(page, WATCH_MS, SCROLL_PX) };
  } finally {
    stop();
  }
}

const inMs = (what: string, { median, p99, worst, long }: FrameTimes): Also[] => [
  { name: `${what}, median`, value: median, unit: "ms" },
  { name: `${what}, p99`, value: p99, unit: "ms" },
  { name: `${what}, worst`, value: worst, unit: "ms" },
  { name: `${what}, frames of ${LONG_MS} ms and more`, value: long, unit: "%" },
];

function measurementOf(resting: FrameTimes, scrolled: FrameTimes, empty: FrameTimes): Measurement {
  return {
    ours: resting.p99,
    peer: null,
    limit: empty.p99,
    unit: "ms, p99 of a frame",
    reached: resting.p99 < LONG_MS && scrolled.p99 < LONG_MS,
    also: [...inMs("at rest", resting), ...inMs("scrolled", scrolled), ...inMs("empty page", empty)],
  };
}
