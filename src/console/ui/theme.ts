/** Light, dark, or what the system says. Kept in this browser only. */
import { useSyncExternalStore } from "react";

const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const STORE_KEY = "fairlead-theme";
const listeners = new Set<() => void>();
let theme: Theme = "system";

/** Before the first paint, so that a dark page never flashes white. */
export function restoreTheme(): void {
  const kept = readStore();
  apply(THEMES.find((candidate) => candidate === kept) ?? "system");
}

export const nextTheme = (current: Theme): Theme => THEMES[(THEMES.indexOf(current) + 1) % THEMES.length]!;

export function setTheme(next: Theme): void {
  apply(next);
  try {
    localStorage.setItem(STORE_KEY, next);
  } catch {
    // Storage is refused in some private windows: the choice then lasts as long as the page.
  }
}

function apply(next: Theme): void {
  theme = next;
  document.documentElement.dataset["theme"] = next;
  for (const listener of listeners) listener();
}

function readStore(): string | null {
  try {
    return localStorage.getItem(STORE_KEY);
  } catch {
    return null;
  }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const useTheme = (): Theme => useSyncExternalStore(subscribe, () => theme);
