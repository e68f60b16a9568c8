// The strict reader of metrics must itself find what is wrong.

import { expect, test } from "vitest";
import { parseExposition } from "../../support/server/exposition.ts";

const head = "# HELP a_total Help.\n# TYPE a_total counter\n";

test("well-formed text is read", () => {
  const families = parseExposition(`${head}a_total{x="1",y="a\\"b"} 2\na_total{x="2"} 3.5e+2\n`);
  expect(families.get("a_total")!.samples).toEqual([
    { name: "a_total", labels: { x: "1", y: 'a\\"b' }, value: 2 },
    { name: "a_total", labels: { x: "2" }, value: 350 },
  ]);
});

test.each([
  ["no end", `${head}a_total 1`],
  ["a series twice", `${head}a_total{x="1"} 1\na_total{x="1"} 2\n`],
  ["a label twice", `${head}a_total{x="1",x="2"} 1\n`],
  ["a raw quote", `${head}a_total{x="1"2"} 1\n`],
  ["no number", `${head}a_total one\n`],
  ["no type", "a_total 1\n"],
  ["a stranger in the family", `${head}b_total 1\n`],
  ["a counter without its suffix", "# HELP a Help.\n# TYPE a counter\na 1\n"],
  ["a negative counter", `${head}a_total -1\n`],
  [
    "buckets that fall",
    '# HELP h H.\n# TYPE h histogram\nh_bucket{le="1"} 2\nh_bucket{le="+Inf"} 1\nh_sum 1\nh_count 1\n',
  ],
  ["a count that differs", '# HELP h H.\n# TYPE h histogram\nh_bucket{le="+Inf"} 1\nh_sum 1\nh_count 2\n'],
])("%s is refused", (_, text) => {
  expect(() => parseExposition(text)).toThrow();
});
