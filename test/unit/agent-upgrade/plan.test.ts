// A job as it comes down to one node: forward by the job, reverse by the record (SNAP-16).
import { expect, test } from "vitest";
import { CommandId, UpgradeId, Version } from "../../../src/core/ids.ts";
import type { UpgradeJob } from "../../../src/core/upgrade/job.ts";
import type { Activation, ActivationRecord } from "../../../src/agent/upgrade/activations.ts";
import { planOf } from "../../../src/agent/upgrade/plan.ts";
import { refusalOf } from "../../support/refusals.ts";
import { CONFIGS, fingerprint, NODE, PROFILE, ROLLOUT, RUN } from "../../support/trust.ts";

const job: UpgradeJob = {
  command_id: CommandId.parse("66666666-6666-4666-8666-666666666666"),
  rollout_id: ROLLOUT,
  upgrade_id: null,
  node_id: NODE,
  chain_profile_id: PROFILE,
  direction: "forward",
  attempt: 2,
  artifact: {
    name: "hello",
    version: Version.parse("2.0.0"),
    fingerprint: fingerprint("new"),
    url: "https://origin.example/new",
  },
  run: RUN,
  configs: CONFIGS,
};
const backup = { folder: "first/forward.1", manifest: fingerprint("manifest") };
const previous: Activation = {
  fingerprint: fingerprint("old"),
  version: Version.parse("1.0.0"),
  run: { ...RUN, args: ["--old"] },
  configs: [],
  absent: ["app.conf"],
  url: "https://origin.example/old",
  rollout_id: null,
  backup,
};
const recordOf = (before: Activation | null): ActivationRecord => ({
  key: "k",
  current: { ...previous, fingerprint: fingerprint("new") },
  previous: before,
});
const reverse: UpgradeJob = {
  ...job,
  direction: "reverse",
  artifact: { ...job.artifact, fingerprint: previous.fingerprint, url: "https://origin.example/told" },
};

test("a forward job is taken as it was signed, and the backup of the state before it stays", () => {
  expect(planOf(job, recordOf(previous))).toEqual({
    key: `${ROLLOUT}.forward.2`,
    backup_folder: `${ROLLOUT}/forward.2`,
    artifact: job.artifact,
    run: RUN,
    configs: CONFIGS,
    absent: [],
    kept_in: null,
    needed_backup: backup.folder,
  });
});

test.each([
  ["nothing was ever activated", null],
  ["nothing was activated before", recordOf(null)],
  ["the state before has no backup", recordOf({ ...previous, backup: null })],
])("a forward job needs no older backup when %s", (_, record) => {
  expect(planOf(job, record).needed_backup).toBeNull();
});

test("the folder of a job's backup is named after its upgrade, else after its rollout", () => {
  const named = { ...job, upgrade_id: UpgradeId.parse("hello-2") };
  expect(planOf(named, null).backup_folder).toBe("hello-2/forward.2");
  expect(planOf(job, null).backup_folder).toBe(`${ROLLOUT}/forward.2`);
});

test("SNAP-16: a reverse goes to the recorded state with its own run and files, whatever the job says", () => {
  expect(planOf(reverse, recordOf(previous))).toEqual({
    key: `${ROLLOUT}.reverse.2`,
    backup_folder: `${ROLLOUT}/reverse.2`,
    artifact: { ...reverse.artifact, url: "https://origin.example/old" },
    run: previous.run,
    configs: [],
    absent: ["app.conf"],
    kept_in: backup,
    needed_backup: backup.folder,
  });
  const unnamed = planOf(reverse, recordOf({ ...previous, url: null }));
  expect(unnamed.artifact.url).toBe("https://origin.example/told");
});

test.each([
  ["nothing was ever activated", null, "no previous state is recorded for this profile"],
  ["no state before is recorded", recordOf(null), "no previous state is recorded for this profile"],
  [
    "another state is recorded",
    recordOf({ ...previous, fingerprint: fingerprint("third") }),
    `the recorded previous state is ${fingerprint("third")}`,
  ],
])("SNAP-16: a reverse is refused when %s", (_, record, message) => {
  expect(refusalOf(() => planOf(reverse, record))).toMatchObject({ code: "ROLLBACK_REFUSED", message });
});
