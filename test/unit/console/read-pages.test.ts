import { describe, expect, it } from "vitest";
import { codeIn } from "../../../src/console/api/session.ts";
import { readPages } from "../../../src/console/api/read-pages.ts";

const source = (pages: number) => (query: string) => {
  const at = Number(new URLSearchParams(query).get("cursor") ?? 0);
  return Promise.resolve({
    items: [at * 2, at * 2 + 1],
    next: at + 1 < pages ? String(at + 1) : null,
    asOf: 1000 + at,
  });
};

describe("a list of several pages", () => {
  it("is read to its end and dated by its first page", async () => {
    expect(await readPages(100, source(3))).toEqual({
      items: [0, 1, 2, 3, 4, 5],
      isComplete: true,
      asOf: 1000,
    });
  });

  it("says when there is more than the bound", async () => {
    expect(await readPages(4, source(3))).toEqual({ items: [0, 1, 2, 3], isComplete: false, asOf: 1000 });
  });
});

describe("the sign-in link", () => {
  it("carries its code in the fragment", () => {
    expect(codeIn("#code=abc_123-x")).toBe("abc_123-x");
  });

  it("is no sign-in link without one", () => {
    expect(codeIn("")).toBeNull();
    expect(codeIn("#main")).toBeNull();
  });
});
