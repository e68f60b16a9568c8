import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LIMITS } from "../../../src/core/limits.ts";
import { refusalOf } from "../../support/refusals.ts";
import { NODE, render, renderedFor } from "./recipes.ts";

const REFUSED = expect.objectContaining({ code: "TEMPLATE_INVALID" }) as unknown;

describe("a template sees what it is given (ROLL-17)", () => {
  test.each([
    ["the profile", "{{ profile }}", "hello"],
    [
      "the upgrade",
      "{{ upgrade.id }} {{ upgrade.source_version }}>{{ upgrade.target_version }}",
      "v2 1.0.0>2.0.0",
    ],
    ["the node", "{{ node.name }} {{ node.type }} {{ node.id }}", `edge-1 edge ${NODE.id}`],
    ["its labels", '{{ node.labels.zone }}{{ node.labels["x-rack"] }}', "ar1"],
    ["a label that may be missing", '{{ node.labels.disk | default: "ssd" }}', "ssd"],
    ["a label asked for by if", "{% if node.labels.disk %}yes{% else %}no{% endif %}", "no"],
    [
      "all labels, in one order",
      "{% for l in node.labels %}{{ l[0] }}={{ l[1] }};{% endfor %}",
      "x-rack=r1;zone=a;",
    ],
    ["filters", '{{ node.name | replace: "-", "_" | upcase | json }}', '"EDGE_1"'],
  ])("%s", (_what, text, expected) => {
    expect(render(text)).toBe(expected);
  });

  test("its own variables, and the manifest's overrides instead of them", () => {
    const text = "{{ port }} {{ tls }}";
    expect(render(text, { variables: { port: 80, tls: false } })).toBe("80 false");
    expect(render(text, { variables: { port: 80, tls: false }, overrides: { port: 443, tls: true } })).toBe(
      "443 true",
    );
  });

  test("ROLL-17: a template expression in an override is plain text", () => {
    for (const value of ["{{ node.name }}", "{% raw %}", "{{ nope }}", "{% include '/etc/passwd' %}"])
      expect(render("v={{ v }}", { overrides: { v: value } })).toBe(`v=${value}`);
  });

  test("ROLL-17: whatever a value holds, it comes out as it went in", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200, unit: "binary" }), (value) => {
        expect(render("<{{ v }}>", { variables: { v: value } })).toBe(`<${value}>`);
      }),
    );
  });

  test("ROLL-17: the same template and values give the same bytes", () => {
    const labels = fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.stringMatching(/^[ -~]{0,20}$/));
    const text = "{{ node.name }} {% for l in node.labels %}{{ l[0] }}={{ l[1] | json }} {% endfor %}{{ v }}";
    fc.assert(
      fc.property(labels, fc.integer(), (of, v) => {
        const shuffled = Object.fromEntries(Object.entries(of).toReversed());
        const once = renderedFor({ ...NODE, labels: of }, text, { variables: { v } });
        expect(renderedFor({ ...NODE, labels: shuffled }, text, { variables: { v } })).toEqual(once);
      }),
    );
  });
});

describe("a template that is wrong is refused at its line and column (ROLL-17)", () => {
  test.each([
    ["an unknown variable", "a\n  {{ prot }}", "2:6", "unknown variable prot"],
    [
      "one in a branch that no node takes",
      "{% if false %}{{ prot }}{% endif %}",
      "1:18",
      "unknown variable prot",
    ],
    ["a field that nodes do not have", "{{ node.nmae }}", "1:4", "unknown variable node.nmae"],
    ["a whole node", "{{ node }}", "1:4", "unknown variable node (say which field: id, name, type, labels)"],
    [
      "a label that the node does not have",
      "{{ node.labels.rack }}",
      "1:4",
      "undefined variable: node.labels.rack",
    ],
    ["a prototype's property", "{{ node.labels.constructor }}", "1:4", "undefined variable"],
    ["an unknown filter", "\n{{ node.name | shout }}", "2:1", "undefined filter: shout"],
    ["a filter that reads the clock", "{{ 'now' | date: '%s' }}", "1:1", "undefined filter: date"],
    ["a filter that rolls dice", "{{ 'a,b' | split: ',' | sample }}", "1:1", "undefined filter: sample"],
    ["include", "{% include 'passwd' %}", "1:1", 'tag "include" not found'],
    ["render", "x {% render 'passwd' %}", "1:3", 'tag "render" not found'],
    ["layout", "{% layout 'passwd' %}", "1:1", 'tag "layout" not found'],
    ["an output that does not end", "ok\n{{ node.name", "2:1", "not closed"],
    ["a tag that does not end", "{% if node.name %}", "1:1", "not closed"],
    ["labels as a text", "{{ node.labels }}", "1:1", "no text"],
    ["a number that is none", "{{ 1 | divided_by: 0 }}", "1:1", "the number is too large, or none"],
  ])("%s", (_what, text, place, message) => {
    const refused = refusalOf(() => render(text));
    expect(refused).toMatchObject(REFUSED as object);
    expect(refused.message).toContain(`templates/a.liquid:${place}: `);
    expect(refused.message).toContain(message);
    const [line, column] = place.split(":").map(Number);
    expect(refused.detail).toMatchObject({ file: "templates/a.liquid", line, column });
  });

  test("an override that no template uses is refused where the overrides stand", () => {
    const refused = refusalOf(() => render("{{ port }}", { variables: { port: 1 }, overrides: { prot: 2 } }));
    expect(refused.message).toBe("v2.yaml:9:3: no template uses the override prot");
  });

  test("a label with a line break would write a line of its own: the node is named and refused", () => {
    const node = { ...NODE, labels: { zone: "a\nadmin: true" } };
    const refused = refusalOf(() => renderedFor(node, "zone: {{ node.labels.zone }}"));
    expect(refused.message).toContain(`node ${NODE.id}: control characters in its label "zone"`);
  });
});

describe("a template has bounds (ROLL-17)", () => {
  const nested = (levels: number, text = "x") =>
    `${"{% if true %}".repeat(levels)}${text}${"{% endif %}".repeat(levels)}`;

  test("as many levels as are allowed are taken", () => {
    expect(render(nested(LIMITS.templateNestingMax))).toBe("x");
  });

  test.each([
    ["a list without end", "{% for i in (1..100000000) %}x{% endfor %}", "memory alloc limit exceeded"],
    [
      "a text that doubles",
      "{% assign s = 'a' %}{% for i in (1..60) %}{% assign s = s | append: s %}{% endfor %}{{ s }}",
      "memory alloc limit exceeded",
    ],
    [
      "work without end", // which takes no memory, however quick the machine
      `{% for i in (1..9999) %}${"{% if true %}{% endif %}".repeat(8_000)}{% endfor %}`,
      "template render limit exceeded",
    ],
    [
      "an output too large",
      `{% for i in (1..1000) %}${"x".repeat(2_000)}{% endfor %}`,
      `the file is larger than ${LIMITS.configFileBytesMax} bytes`,
    ],
    ["a template too long", "x".repeat(LIMITS.templateBytesMax + 1), "longer than 262144 characters"],
    ["nesting without end", "{% if true %}".repeat(15_000), "a.liquid:1:"],
    ["nesting that ends late", nested(9_000), "nested too deep"],
    ["one level too many", nested(LIMITS.templateNestingMax + 1), "nested too deep: more than 100 levels"],
  ])("%s is cut off", (_what, text, message) => {
    const refused = refusalOf(() => render(text));
    expect(refused).toMatchObject(REFUSED as object);
    expect(refused.message).toContain(message);
  });
});

describe("a file with a secret reference is its owner's alone (ROLL-17)", () => {
  const reference = "password: secret://vault/db";
  test("0600 unless said, and when said", () => {
    expect(renderedFor(NODE, reference).mode).toBe("0600");
    expect(renderedFor(NODE, reference, { mode: "0600" }).mode).toBe("0600");
    expect(renderedFor(NODE, "password: {{ p }}", { variables: { p: "secret://vault/db" } }).mode).toBe(
      "0600",
    );
  });

  test.each(["0644", "0640", "0666", "0400"])("mode %s is CONFIG_MODE_UNSAFE", (mode) => {
    expect(refusalOf(() => renderedFor(NODE, reference, { mode }))).toMatchObject({
      code: "CONFIG_MODE_UNSAFE",
      detail: { path: "a.conf", mode, line: 1, column: 1 },
    });
  });

  test("a file without one has the mode that was said, or 0644", () => {
    expect(renderedFor(NODE, "secret of success").mode).toBe("0644");
    expect(renderedFor(NODE, "x", { mode: "0640" }).mode).toBe("0640");
  });
});
