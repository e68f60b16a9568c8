/** Debian's chromium without windows, driven by playwright-core, with a place for what it saw. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import { chromium, type Browser, type Page } from "playwright-core";

const SCREENSHOTS = ".cache/screenshots";

export const LOOKS = {
  light: { colorScheme: "light", viewport: { width: 1280, height: 900 } },
  dark: { colorScheme: "dark", viewport: { width: 1280, height: 900 } },
  phone: { colorScheme: "light", viewport: { width: 390, height: 844 } },
} as const;
export type Look = keyof typeof LOOKS;

interface Launch {
  /** To whoever started it: playwright would end the process at once. */
  readonly leavesSignals?: boolean;
}

export function launchChromium({ leavesSignals = false }: Launch = {}): Promise<Browser> {
  return chromium.launch({
    handleSIGINT: !leavesSignals,
    handleSIGTERM: !leavesSignals,
    handleSIGHUP: !leavesSignals,
    executablePath: "/usr/bin/chromium-headless-shell",
    args: ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
}

/** Of the whole page, unless it is one that draws only what is in view. */
export async function screenshot(page: Page, name: string, look: Look, fullPage = true): Promise<Buffer> {
  await mkdir(SCREENSHOTS, { recursive: true });
  const { colorScheme, viewport } = LOOKS[look];
  await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
  await page.setViewportSize(viewport);
  return page.screenshot({ path: join(SCREENSHOTS, `${name}-${look}.png`), fullPage });
}

/** What axe finds, and on what, as one line each. A live page may change between two steps of axe: what stays counts. */
export async function violations(page: Page): Promise<string[]> {
  return (await analyze(page)).length === 0 ? [] : analyze(page);
}

async function analyze(page: Page): Promise<string[]> {
  const { violations: found } = await new AxeBuilder({ page }).analyze();
  return found.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}

export const scrollsSideways = (page: Page): Promise<boolean> =>
  page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
