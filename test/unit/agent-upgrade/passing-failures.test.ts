/** Failures that may pass are tried again, others are not (ROLL-30). Files are real, the program is pretended. */
import type { RequestListener } from "node:http";
import { describe, expect, it, test } from "vitest";
import { mayPass } from "../../../src/agent/upgrade/passing-failures.ts";
import type { ErrorCode } from "../../../src/core/error-codes.ts";
import { FairleadError } from "../../../src/core/errors.ts";
import { LIMITS } from "../../../src/core/limits.ts";
import { systemClock } from "../../../src/host/clock.ts";
import { helloProgram } from "../../../src/demo/hello-program.ts";
import { around } from "../../support/programs/failing-adapter.ts";
import { faultScene } from "../../support/programs/fault-scene.ts";

const here = faultScene();
const QUICKLY = { retryAfterMs: [1, 1, 1] };

/** An origin that answers with a status so many times before it has the bytes. */
function originFailing(times: number, status: number) {
  const job = here.m.job({ version: "2.0.0" });
  const seen = { requests: 0 };
  const listener: RequestListener = (_, response) => {
    seen.requests += 1;
    if (seen.requests > times) return void response.end(helloProgram("2.0.0"));
    response.statusCode = status;
    response.end();
  };
  here.m.server.put(`/${job.artifact.fingerprint}`, listener);
  return { job, seen };
}

describe("an origin", () => {
  it.each([1, 2, 3])(
    "ROLL-30: that fails %i times and then answers does not fail the upgrade",
    async (times) => {
      const { job, seen } = originFailing(times, 503);
      expect(await here.m.upgrade(job, QUICKLY)).toMatchObject({ verdict: "COMPLETED" });
      expect(seen.requests).toBe(times + 1);
    },
  );

  it("ROLL-30: that fails four times fails the upgrade, which is taken back", async () => {
    const { job, seen } = originFailing(4, 503);
    expect(await here.m.upgrade(job, QUICKLY)).toMatchObject({
      verdict: "FAILED",
      error: { code: "ARTIFACT_UNREACHABLE", action: "acquire_artifact" },
    });
    expect(seen.requests).toBe(4);
    await here.expectAsBefore();
  });

  it("ROLL-30: that has no such file is asked once", async () => {
    const { job, seen } = originFailing(1, 404);
    expect(await here.m.upgrade(job, QUICKLY)).toMatchObject({ verdict: "FAILED" });
    expect(seen.requests).toBe(1);
  });

  it("ROLL-30: is not waited for beyond the ten minutes of the upgrade", async () => {
    const { job, seen } = originFailing(9, 503);
    let late = 0;
    const clock = { ...systemClock, now: () => systemClock.now() + late };
    // The warning says that the next try is waited for: the agent leaves in that wait, and comes back too late.
    const leaving = new AbortController();
    const warn = () => {
      late = LIMITS.scheduleToCloseMs;
      leaving.abort(new Error("leaving"));
    };
    const begun = { ...job };
    const log = { ...here.m.deps().log, warn };
    const ran = here.m.upgrade(begun, { retryAfterMs: [60_000_000], clock, log, signal: leaving.signal });
    await expect(ran).rejects.toThrow("leaving");
    expect(await here.m.upgrade(begun, { ...QUICKLY, clock })).toMatchObject({
      verdict: "FAILED",
      error: { code: "DEADLINE_PASSED" },
    });
    expect(seen.requests).toBe(1);
  });
});

it("ROLL-30: an engine that is busy once does not fail the upgrade, at whatever action", async () => {
  for (const method of ["backup", "verify", "stop", "install", "start"] as const) {
    let busy = true;
    const adapter = around(here.m.adapter(), method, async (work) => {
      if (!busy) return work();
      busy = false;
      throw new FairleadError("RUNTIME_UNRESPONSIVE", "busy");
    });
    const version = `2.0.${method.length}`;
    expect(await here.m.upgrade(here.m.job({ version }), { ...QUICKLY, adapter }), method).toMatchObject({
      verdict: "COMPLETED",
    });
  }
});

test.each([
  ["ARTIFACT_UNREACHABLE", undefined, true],
  ["ARTIFACT_UNREACHABLE", 503, true],
  ["ARTIFACT_UNREACHABLE", 429, true],
  ["ARTIFACT_UNREACHABLE", 404, false],
  ["ARTIFACT_UNREACHABLE", 302, false],
  ["ARTIFACT_UNREACHABLE", 300, false],
  ["ARTIFACT_UNREACHABLE", 299, true],
  ["ARTIFACT_UNREACHABLE", 499, false],
  ["ARTIFACT_UNREACHABLE", 500, true],
  ["ARTIFACT_UNREACHABLE", "404", true],
  ["RUNTIME_UNRESPONSIVE", 404, true],
  ["UNREACHABLE", undefined, true],
  ["TIMEOUT", undefined, true],
  ["RUNTIME_UNRESPONSIVE", undefined, true],
  ["ACTION_TIMEOUT", undefined, true],
  ["ARTIFACT_DIGEST_MISMATCH", undefined, false],
  ["ORIGIN_NOT_ALLOWED", undefined, false],
  ["DISK_FULL", undefined, false],
  ["AUTHORITY_REVOKED", undefined, false],
  ["DEADLINE_PASSED", undefined, false],
] as const)("ROLL-30: whether %s with status %s may pass: %s", (code: ErrorCode, status, passes) => {
  const error = new FairleadError(code, "", status === undefined ? undefined : { status });
  expect(mayPass(error, "acquire_artifact")).toBe(passes);
});

test("ROLL-30: an action that ran out of time is tried again only while nothing has stopped, and no plain error is", () => {
  expect(mayPass(new FairleadError("ACTION_TIMEOUT", ""), "start_node")).toBe(false);
  expect(mayPass(new Error("odd"), "acquire_artifact")).toBe(false);
  const foreign = Object.assign(new Error("odd"), { code: "RUNTIME_UNRESPONSIVE" });
  expect(mayPass(foreign, "acquire_artifact")).toBe(false);
});

test("ROLL-30: the waits are 5, 20 and 60 seconds", () => {
  expect(LIMITS.upgradeRetryAfterMs).toEqual([5_000, 20_000, 60_000]);
});
