// Names of nodes, made of what machines say about themselves.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nameFrom, NameTemplate, NodeName } from "../../../src/core/model/node-name.ts";

const machineId = "0123456789abcdef0123456789abcdef";

test.each([
  ["{hostname}", "web-1"],
  ["{hostname}-{machine}", "web-1-0123456789ab"],
  ["edge-{machine}", "edge-0123456789ab"],
  ["{hostname}.eu.{hostname}", "web-1.eu.web-1"],
])("template %s makes %s", (template, name) => {
  expect(NameTemplate.parse(template)).toBe(template);
  expect(nameFrom(template, { hostname: "web-1", machineId })).toBe(name);
});

test.each([
  "",
  "web",
  "{host}",
  "{}",
  "{hostname",
  "{hostname} x",
  "-{hostname}",
  "{hostname}/x",
  "{hostname}\n",
])("%j is no template", (template) => {
  expect(NameTemplate.safeParse(template).success).toBe(false);
});

describe("nameFrom", () => {
  test("answers null where the template asks for a machine id that the machine does not have", () => {
    expect(nameFrom("{hostname}-{machine}", { hostname: "web-1", machineId: null })).toBeNull();
    expect(nameFrom("{hostname}", { hostname: "web-1", machineId: null })).toBe("web-1");
  });

  test("makes a name or nothing of whatever a machine says", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary" }),
        fc.constantFrom("{hostname}", "a-{hostname}-{machine}"),
        (hostname, template) => {
          const name = nameFrom(template, { hostname, machineId });
          expect(name === null || NodeName.safeParse(name).success).toBe(true);
        },
      ),
    );
  });

  test("replaces a placeholder once: a host name that looks like one stays as it is", () => {
    expect(nameFrom("{hostname}", { hostname: "{machine}", machineId })).toBeNull();
  });
});
