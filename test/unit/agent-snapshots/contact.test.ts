// Whether the control plane is there, judged by its last answer (SNAP-9).
import { expect, test } from "vitest";
import { createContact } from "../../../src/agent/degraded/contact.ts";
import { FairleadError } from "../../../src/core/errors.ts";
import { LIMITS } from "../../../src/core/limits.ts";

function contactAt() {
  const clock = { ms: 1_000, now: () => 0, monotonic: () => clock.ms };
  return { clock, contact: createContact(clock) };
}

test("SNAP-9: the control plane is not there before its first answer, and is gone contactLostMs after its last", () => {
  const { clock, contact } = contactAt();
  expect(contact.isThere()).toBe(false);
  contact.answered();
  clock.ms += LIMITS.contactLostMs;
  expect(contact.isThere()).toBe(true);
  clock.ms += 1;
  expect(contact.isThere()).toBe(false);
});

test("only an answer that the sender has lost its own authority means a partition, until the next answer", () => {
  const { contact } = contactAt();
  expect(contact.isPartitioned()).toBe(false);
  contact.failed(new FairleadError("NOT_READY", "no lease"));
  expect(contact.isPartitioned()).toBe(true);
  contact.failed(new FairleadError("UNREACHABLE", "no route"));
  expect(contact.isPartitioned()).toBe(false);
  contact.failed(Object.assign(new Error("no lease"), { code: "NOT_READY" }));
  expect(contact.isPartitioned()).toBe(false);
  contact.failed(new FairleadError("NOT_READY", "no lease"));
  contact.answered();
  expect(contact.isPartitioned()).toBe(false);
});

test("a failure does not take back an earlier answer", () => {
  const { contact } = contactAt();
  contact.answered();
  contact.failed(new FairleadError("UNREACHABLE", "no route"));
  expect(contact.isThere()).toBe(true);
});

test("the first poll is waited for until it is over", async () => {
  const { contact } = contactAt();
  let isOver = false;
  const waited = contact.settled().then(() => (isOver = true));
  await Promise.resolve();
  expect(isOver).toBe(false);
  contact.settle();
  await waited;
  expect(isOver).toBe(true);
});
