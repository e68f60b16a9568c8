import { expect, test } from "vitest";
import { compareVersions } from "../../../src/server/drive/build.ts";
import { decideRegistration, olderThan, type Deployment } from "../../../src/server/drive/deployments.ts";

const OLD: Deployment = { id: "dp_old", uri: "http://old:1/", build: "1.0.0" };
const NEW: Deployment = { id: "dp_new", uri: "http://new:1/", build: "1.1.0" };
const old = { uri: "http://old:1", build: "1.0.0" };
const newer = { uri: "http://new:1", build: "1.1.0" };
const answering = () => false;
const silent = () => true;

test("ROLL-22: an engine that knows nobody gets whoever asks first", () => {
  expect(decideRegistration(old, [], answering)).toEqual({ kind: "register", overwrite: false });
});

test("ROLL-22: a build that is registered changes nothing, however often it asks", () => {
  expect(decideRegistration(old, [OLD], answering)).toEqual({ kind: "settled" });
  expect(decideRegistration(newer, [OLD, NEW], silent)).toEqual({ kind: "settled" });
});

test("ROLL-22: a newer build is registered beside the older one, or over it where they share an address", () => {
  expect(decideRegistration(newer, [OLD], answering)).toEqual({ kind: "register", overwrite: false });
  const sameAddress = { ...newer, uri: old.uri };
  expect(decideRegistration(sameAddress, [OLD], answering)).toEqual({ kind: "register", overwrite: true });
});

test("ROLL-22: an older build never takes the work from a newer one that answers", () => {
  expect(decideRegistration(old, [NEW], answering)).toEqual({ kind: "settled" });
  expect(decideRegistration(old, [OLD, NEW], answering)).toEqual({ kind: "settled" });
});

test("ROLL-22: an older build takes it back from a newer one that is gone", () => {
  expect(decideRegistration(old, [OLD, NEW], silent)).toEqual({ kind: "replace", id: "dp_new" });
});

test("ROLL-22: replicas of one build with addresses of their own stand in for each other, and only then", () => {
  const other = { ...old, uri: "http://other:1" };
  expect(decideRegistration(other, [OLD], answering)).toEqual({ kind: "settled" });
  expect(decideRegistration(other, [OLD], silent)).toEqual({ kind: "redirect", id: "dp_old" });
});

test("ROLL-22: what told no build is older than everything", () => {
  const unknown = { id: "dp_x", uri: "http://x:1", build: null };
  expect(decideRegistration(old, [unknown], answering)).toEqual({ kind: "register", overwrite: false });
});

test("ROLL-22: older handlers are drained only once this build is registered itself", () => {
  expect(olderThan(newer, [OLD])).toEqual([]);
  expect(olderThan(newer, [OLD, NEW])).toEqual([OLD]);
  expect(olderThan(old, [OLD, NEW])).toEqual([]);
});

test("builds are ordered as semantic versions are", () => {
  const rising = [
    "junk",
    "0.9.0",
    "0.10.0-alpha.2",
    "0.10.0-alpha.10",
    "0.10.0-beta",
    "0.10.0",
    "1.0.0",
    "10.0.0",
  ];
  expect(rising.toReversed().toSorted(compareVersions)).toEqual(rising);
  expect(compareVersions("1.0.0+a", "1.0.0+b")).toBe(0);
});
