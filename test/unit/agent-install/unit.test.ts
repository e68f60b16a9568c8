import { describe, expect, test } from "vitest";
import { inRoot } from "../../../scripts/root.mjs";
import { loadConfig } from "../../../src/agent/config.ts";
import { AGENT_CONFIG, AGENT_EXECUTABLE, agentUnit } from "../../../src/agent/install/unit.ts";

describe("USE-7: the agent's unit", () => {
  test("starts the agent with its config, and stops nothing but the agent", () => {
    const lines = agentUnit(AGENT_EXECUTABLE, AGENT_CONFIG).split("\n");
    expect(lines).toContain("ExecStart=/usr/bin/fairlead-agent --config /etc/fairlead/agent.yaml");
    expect(lines).toContain("KillMode=process");
    expect(lines).toContain("ConditionPathExists=/etc/fairlead/agent.yaml");
  });

  test.each([
    "relative",
    "/with space",
    "/a\nExecStart=/bin/false",
    "/%h/agent",
    "/$HOME/agent",
    '/"',
    "/a;b",
    "",
  ])("is refused for the path %j", (path) => {
    expect(() => agentUnit(path, AGENT_CONFIG)).toThrow("plain characters");
    expect(() => agentUnit(AGENT_EXECUTABLE, path)).toThrow("plain characters");
  });
});

test("USE-7: the config that comes with the package is one that an agent takes", async () => {
  const config = await loadConfig(inRoot("packaging/agent/agent.yaml"));
  expect(Object.keys(config.programs)).toEqual(["validator"]);
});
