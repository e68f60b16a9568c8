// Every sensitive action of the agent passes the gate where the list says, and nowhere is one done beside it (SNAP-9).
import { expect, test } from "vitest";
import { CALL_SITES } from "../../../src/agent/degraded/call-sites.ts";
import { ACTED_ON, ACTIONS, DEGRADED_ACTIONS, type Action } from "../../../src/core/degraded/actions.ts";
import { sourcesLike } from "../../tidy/repository.ts";

const every = Object.keys(ACTIONS) as Action[];
const ASKS = /(?:passGate|admit)\(\s*"([a-z_]+)"/g;

const sources = sourcesLike("src/agent/**/*.ts");
const asked = sources.flatMap(({ path, text }) =>
  [...text.matchAll(ASKS)].map(([, action]) => `${action} in ${path}`),
);

test("SNAP-9: the gate is asked exactly where the list of call sites says", () => {
  const listed = every.flatMap((action) => CALL_SITES[action].map((path) => `${action} in ${path}`));
  expect([...new Set(asked)].toSorted()).toEqual(listed.toSorted());
});

test.each([
  ["issuing certificates", /\.renew\(/, "src/agent/identity/renew.ts"],
  ["taking a command", /ledger\.accept\(/, "src/agent/authority/receive.ts"],
  ["running an upgrade", /\brunUpgrade\(/, "src/agent/upgrade-runner.ts"],
  ["starting a program anew", /\bensureRunning\(/, "src/agent/program-starter.ts"],
])("SNAP-9: %s happens in one file only, which asks", (_, pattern, path) => {
  const definitions = /export (?:async )?function|observed\(link\.renew/;
  const users = sources.filter(({ text }) =>
    text.split("\n").some((line) => pattern.test(line) && !definitions.test(line)),
  );
  expect(users.map((file) => file.path)).toEqual([path]);
  expect(asked.some((line) => line.endsWith(path))).toBe(true);
});

test("SNAP-19: what is said to be acted on without the control plane has a place where it is done", () => {
  expect([...ACTED_ON]).toEqual(DEGRADED_ACTIONS.filter((action) => CALL_SITES[action].length > 0));
});
