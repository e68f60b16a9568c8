// Every field that a node sends is bounded, and of a type that PostgreSQL and JSON can hold. A field that is added later
// is found by walking the schemas.

import { expect, test } from "vitest";
import { z } from "zod";
import {
  EnrollRequest,
  Heartbeat,
  PollRequest,
  RenewRequest,
  ReportRequest,
} from "../../src/core/protocol/agent-api.ts";
import { LongText } from "../../src/core/text.ts";
import { examplesOf, fieldsOf, type Field } from "../support/messages/fields.ts";

const MESSAGES = { EnrollRequest, RenewRequest, PollRequest, Heartbeat, ReportRequest } as const;

const LENGTHS = [1, 16, 36, 64, 200];
const UNSTORABLE = ["\0", "\ud800", "\udfff", "a\0"].flatMap((text) =>
  LENGTHS.map((length) => text.padEnd(length, text)),
);
const ENDLESS = "a".repeat(1024 * 1024);
const UNBOUNDED = [-1e15, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER + 1, 1e308, Infinity, NaN, 0.5];

/** The values that it wrongly accepts. */
function faultsOf({ kind, schema }: Field): unknown[] {
  const bad = kind === "string" ? [...UNSTORABLE, ENDLESS] : kind === "number" ? UNBOUNDED : [];
  return bad.filter((value) => schema.safeParse(value).success).map((value) => String(value).slice(0, 10));
}

test.each(Object.entries(MESSAGES))("every field of %s is bounded and storable", (_name, schema) => {
  const faults = fieldsOf(schema).flatMap((field) =>
    faultsOf(field).map((value) => `${field.path.join(".")} accepts ${JSON.stringify(value)}`),
  );
  expect(faults).toEqual([]);
});

test.each(Object.entries(MESSAGES))(
  "every form of %s has an example that its schema accepts",
  (_name, schema) => {
    for (const example of examplesOf(schema)) expect(schema.safeParse(example).error).toBeUndefined();
  },
);

test("a text without a check, a text without a bound and a number without a bound are noticed", () => {
  const careless = z.strictObject({
    unchecked: z.string().max(100),
    endless: z.string().refine((text) => !text.includes("\0") && text.isWellFormed()),
    any: z.array(z.strictObject({ amount: z.int().nullable() })).optional(),
    fraction: z.number().min(0).max(1),
    good: LongText(100),
    record: z.record(z.string().max(100), z.int().min(0).max(9)),
  });
  const faulty = fieldsOf(careless).filter((field) => faultsOf(field).length > 0);
  expect(faulty.map(({ path }) => path.join("."))).toEqual([
    "unchecked",
    "endless",
    "any.0.amount",
    "fraction",
    "record",
  ]);
});
