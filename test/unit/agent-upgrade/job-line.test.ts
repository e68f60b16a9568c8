// Jobs of several programs of one node (ROLL-28): the rollout of each hears for which program its node waits.

import { beforeEach, expect, test } from "vitest";
import type { PendingJob } from "../../../src/agent/authority/ledger.ts";
import { createJobLine } from "../../../src/agent/job-line.ts";

const job = (command_id: string, chain_profile_id: string): PendingJob =>
  ({ job: { command_id, chain_profile_id } }) as unknown as PendingJob;
const [first, second, third] = [job("1", "execution"), job("2", "consensus"), job("3", "relay")];

let told: string[];
let line: ReturnType<typeof createJobLine>;
beforeEach(() => {
  told = [];
  line = createJobLine({
    tell: (commandId, body) =>
      void told.push(
        body.kind === "waiting"
          ? `${commandId} waits for ${body.waiting_for} behind ${body.jobs_ahead}`
          : body.kind,
      ),
  });
});

test("ROLL-28: a job alone waits for nothing", () => {
  line.join(first);
  line.leave(first);
  line.join(second);
  expect(told).toEqual([]);
});

test("ROLL-28: a job behind another program's says so, and again when the next one runs first", () => {
  line.join(first);
  line.join(second);
  line.join(third);
  expect(told).toEqual(["2 waits for execution behind 1", "3 waits for execution behind 2"]);
  line.leave(first);
  expect(told.slice(2)).toEqual(["3 waits for consensus behind 1"]);
  line.leave(second);
  expect(told).toHaveLength(3);
});

test("ROLL-28: a job behind its own program's job waits for no other", () => {
  line.join(first);
  line.join(job("4", "execution"));
  expect(told).toEqual([]);
});
