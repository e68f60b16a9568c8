// docs/agent.md explains the agent's config. Its example must be one, and its tables must have every key.

import { expect, test } from "vitest";
import { AgentConfig } from "../../src/agent/config.ts";
import { HealthProbe, ProgramConfig } from "../../src/agent/programs/config.ts";
import { parseYaml } from "../../src/host/yaml-file.ts";
import { readSource } from "./repository.ts";

const keysInTables = (page: string): string[] =>
  [...page.matchAll(/^\| `([a-z_.]+)` \|/gm)].map(([, key = ""]) => key);

const programKeys = (): string[] => [
  ...new Set(ProgramConfig.options.flatMap((runtime) => Object.keys(runtime.shape))),
];

const knownKeys = (): string[] => [
  ...Object.keys(AgentConfig.shape),
  ...programKeys().filter((key) => key !== "health"),
  ...Object.keys(HealthProbe.shape).map((key) => `health.${key}`),
];

test("the example config of docs/agent.md is one that the agent takes", () => {
  const [, example = ""] = /^```yaml\n([\s\S]*?)^```$/m.exec(readSource("docs/agent.md").text) ?? [];
  const config = parseYaml(Buffer.from(example), AgentConfig, "INVALID_INPUT", "docs/agent.md");
  expect(Object.keys(config.programs)).toHaveLength(1);
});

test("the example of the systemd runtime is a program that the agent takes", () => {
  const { text } = readSource("docs/agent.md");
  const [, example = ""] =
    /^```yaml\n(programs:\n  validator:\n    runtime: systemd\n[\s\S]*?)^```$/m.exec(text) ?? [];
  const Programs = AgentConfig.pick({ programs: true });
  const { programs } = parseYaml(Buffer.from(example), Programs, "INVALID_INPUT", "docs/agent.md");
  expect(Object.values(programs)).toMatchObject([{ runtime: "systemd", unit: "validator.service" }]);
});

test("the example of the docker runtime is a program that the agent takes", () => {
  const { text } = readSource("docs/agent.md");
  const [, example = ""] =
    /^```yaml\n(programs:\n  validator:\n    runtime: docker\n[\s\S]*?)^```$/m.exec(text) ?? [];
  const Programs = AgentConfig.pick({ programs: true });
  const { programs } = parseYaml(Buffer.from(example), Programs, "INVALID_INPUT", "docs/agent.md");
  expect(Object.values(programs)).toMatchObject([{ runtime: "docker", container: "validator" }]);
});

test("docs/agent.md explains every key of the config, and no other", () => {
  expect(keysInTables(readSource("docs/agent.md").text).toSorted()).toEqual(knownKeys().toSorted());
});

test("a key that is not explained, or does not exist, is a difference", () => {
  const rows = knownKeys().map((key) => `| \`${key}\` | meaning |`);
  expect(keysInTables(rows.join("\n"))).toEqual(knownKeys());
  expect(keysInTables(rows.slice(1).join("\n"))).not.toEqual(knownKeys());
  expect(keysInTables([...rows, "| `no_such_key` | meaning |"].join("\n"))).not.toEqual(knownKeys());
});
