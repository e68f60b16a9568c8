import { expect, test } from "vitest";
import { planConfigs } from "../../../src/render/configs.ts";
import { openNodeFiles } from "../../../src/server/rollout/node-files.ts";
import { digestOf } from "../../../src/trust/digest.ts";
import { refusalOf } from "../../support/refusals.ts";
import { NODE, recipe, UPGRADE } from "./recipes.ts";

const filesOf = (text: string) => openNodeFiles(planConfigs(recipe(text), UPGRADE));
const shaOf = (files: ReturnType<typeof filesOf>, node = NODE): string => files.of(node).all[0]!.sha256;

test("a node whose label changed after it was rendered ahead is rendered again", async () => {
  const files = filesOf("zone {{ node.labels.zone }}");
  await files.renderAhead([NODE], () => 0);
  expect(shaOf(files)).toBe(digestOf("zone a"));
  expect(shaOf(files, { ...NODE, labels: { zone: "b" } })).toBe(digestOf("zone b"));
});

test("a file that mentions no node is everyone's and no node's own", () => {
  const files = filesOf("profile {{ profile }}");
  expect(files.of(NODE)).toEqual({ all: files.shared, own: [] });
  expect(files.shared).toHaveLength(1);
});

test("rendering that does not end in its time is given up", async () => {
  let now = 0;
  const nodes = Array.from({ length: 100 }, (_, n) => ({ ...NODE, id: `n${n}` }));
  const late = filesOf("{{ node.id }}").renderAhead(nodes, () => (now += 10_000));
  await expect(late).rejects.toMatchObject({ code: "TEMPLATE_INVALID" });
});

test("files of many nodes add up: past the bound of a rollout they are refused", () => {
  const files = filesOf(
    `{{ node.id }}${"{% for i in (1..500) %}".concat("x".repeat(2_000), "{% endfor %}")}`,
  );
  const refused = refusalOf(() => {
    for (let n = 0; n < 80; n++) files.of({ ...NODE, id: `n${n}` });
  });
  expect(refused.code).toBe("PAYLOAD_TOO_LARGE");
  expect(files.contents.size).toBeGreaterThan(60);
});
