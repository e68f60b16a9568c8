import { expect, test } from "vitest";
import { SnapshotHeader } from "../../../src/core/snapshot/envelope.ts";
import { decodeFrame } from "../../../src/trust/frame.ts";
import { fail, reject } from "../../../src/trust/snapshot-subject.ts";
import { parseCanonical } from "../../../src/trust/strict-json.ts";
import { assignmentFrame, newKeys } from "../../support/trust.ts";

const failure = fail("SNAPSHOT_MALFORMED", "frame", "cut");

test("a rejection names the step, the failure, and scope and version where a header was read", () => {
  const bytes = assignmentFrame(newKeys(), { header: { authority_epoch: 2, config_version: 7 } });
  const header = SnapshotHeader.parse(parseCanonical(decodeFrame(bytes).header));
  expect(reject(4, failure, header)).toEqual({
    kind: "rejected",
    step: 4,
    code: "SNAPSHOT_MALFORMED",
    field: "frame",
    reason: "cut",
    scope: "service_assignment",
    version: { epoch: 2, version: 7 },
  });
  expect(reject(1, failure)).toEqual({ kind: "rejected", step: 1, ...failure });
});
