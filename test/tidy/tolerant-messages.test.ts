// Agents, servers and command lines are upgraded one after the other: a reader ignores a key that it does not know, in
// every unsigned message and in every file of its own. Signed content and the input of operators are read strictly.
import { expect, test } from "vitest";
import { z } from "zod";
import { Identity } from "../../src/agent/identity/store.ts";
import { State } from "../../src/agent/snapshots/state.ts";
import * as agentApi from "../../src/core/protocol/agent-api.ts";
import * as apiKeyApi from "../../src/core/protocol/api-key-api.ts";
import * as clockApi from "../../src/core/protocol/clock-api.ts";
import * as grantApi from "../../src/core/protocol/grant-api.ts";
import * as groupApi from "../../src/core/protocol/group-api.ts";
import * as incidentApi from "../../src/core/protocol/incident-api.ts";
import * as keysApi from "../../src/core/protocol/keys-api.ts";
import * as manifestApi from "../../src/core/protocol/manifest-api.ts";
import * as modelApi from "../../src/core/protocol/model-api.ts";
import * as operatorApi from "../../src/core/protocol/operator-api.ts";
import * as snapshotApi from "../../src/core/protocol/snapshot-api.ts";
import { examplesOf } from "../support/messages/fields.ts";
import { objectsOf } from "../support/messages/objects.ts";
import { occurrences, sourcesLike } from "./repository.ts";

type Module = Readonly<Record<string, unknown>>;
const isSchema = (value: unknown): value is z.ZodType => value instanceof z.ZodType;
const schemasOf = (modules: Readonly<Record<string, Module>>): [string, z.ZodType][] =>
  Object.entries(modules).flatMap(([name, module]) =>
    Object.entries(module).flatMap(([key, value]): [string, z.ZodType][] =>
      isSchema(value) ? [[`${name}.${key}`, value]] : [],
    ),
  );

/** Input of operators: a typing error must not be taken for nothing. */
const INPUT = /(Request|Create|Revoke|Proposal|Upload|Adopt)$/;
const MESSAGES = schemasOf({
  apiKeyApi,
  clockApi,
  grantApi,
  groupApi,
  incidentApi,
  keysApi,
  manifestApi,
  modelApi,
  operatorApi,
  snapshotApi,
});
const UNSIGNED = [
  ...schemasOf({ agentApi, state: { Identity, State } }),
  ...MESSAGES.filter(([name]) => !INPUT.test(name)),
];

/** Objects inside unsigned messages and files that are read strictly, and why. */
const STRICT: readonly (readonly [RegExp, string])[] = [
  [/^agentApi\..*\bproof\.\[\]$/, "a proof is verified with the signed intent"],
  [/^operatorApi\.TrustView\.bundle\b/, "a trust bundle as it was signed"],
  [/^snapshotApi\.SnapshotDetail\.header$/, "a header as it was signed"],
  [/^state\..*\broot(\.keys\.\[\])?$/, "the root set of a trust bundle, as it was signed"],
  [/^modelApi\.MembershipView$/, "read, changed and put again: a key that was dropped would be lost"],
];

const strictIn = ([name, schema]: [string, z.ZodType]): string[] =>
  objectsOf(schema).flatMap(({ path, isStrict }) => (isStrict ? [`${name}${path}`] : []));

test("USE-7: an unknown key is ignored in every unsigned message and in the agent's identity and state", () => {
  const strict = UNSIGNED.flatMap(strictIn);
  expect(strict.filter((found) => !STRICT.some(([pattern]) => pattern.test(found)))).toEqual([]);
  expect(STRICT.filter(([pattern]) => !strict.some((found) => pattern.test(found)))).toEqual([]);
});

test.each(schemasOf({ agentApi }).filter(([, schema]) => schema.def.type === "object"))(
  "USE-7: %s is read the same with an unknown key in each of its objects",
  (_name, schema) => {
    for (const example of examplesOf(schema)) {
      const more = withUnknownKey(example);
      expect(more).not.toEqual(example);
      expect(schema.parse(more)).toEqual(schema.parse(example));
    }
  },
);

test("USE-7: a key of a poll's answer that is newer than protocol 1 may be absent", () => {
  const first = ["snapshots", "increments", "head", "commands", "void_intents"];
  const newer = Object.entries(agentApi.PollResponse.shape).filter(([key]) => !first.includes(key));
  expect(newer.filter(([, schema]) => !z.safeParse(schema, undefined).success)).toEqual([]);
});

test("USE-7: an unknown key in the input of an operator is refused", () => {
  const tolerant = MESSAGES.filter(([name]) => INPUT.test(name)).filter(
    ([, schema]) => objectsOf(schema)[0]?.isStrict !== true,
  );
  expect(tolerant.map(([name]) => name)).toEqual([]);
});

test("USE-7: of its own files the agent reads strictly only what its operator writes", () => {
  const strict = sourcesLike("src/agent/**/*.ts").flatMap((file) => occurrences(file, /strictObject\(/g));
  expect([...new Set(strict.map((found) => found.split(":")[0]))]).toEqual([
    "src/agent/config.ts",
    "src/agent/programs/config.ts",
    "src/agent/upgrade/adapters/docker/registry-auth.ts",
  ]);
});

/** In every object but those of a proof and records, whose keys mean something. */
function withUnknownKey(value: unknown, key = ""): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => withUnknownKey(item, key));
  if (typeof value !== "object" || value === null || key === "proof") return value;
  const inner = Object.entries(value).map(([name, item]) => [name, withUnknownKey(item, name)]);
  const isRecord = key === "have" || key === "applied" || key === "intent_serials";
  return { ...Object.fromEntries(inner), ...(isRecord ? {} : { unknown_to_this_version: { deep: [1] } }) };
}
