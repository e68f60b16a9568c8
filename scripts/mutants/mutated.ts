import type { Mutant } from "./mutant.ts";

type Mutated =
  | { readonly kind: "changed"; readonly text: string }
  | { readonly kind: "stale"; readonly reason: string };

export function mutated(text: string, { find, replace }: Pick<Mutant, "find" | "replace">): Mutated {
  const parts = text.split(find);
  if (find === replace) return { kind: "stale", reason: "the replacement is the text itself" };
  if (parts.length !== 2) return { kind: "stale", reason: `the text is found ${parts.length - 1} times` };
  return { kind: "changed", text: parts.join(replace) };
}
