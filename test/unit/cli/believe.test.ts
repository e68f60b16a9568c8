// Which trust bundle an operator's machine believes by its pin alone.
import { expect, test } from "vitest";
import { believeByPin } from "../../../src/cli/keys/believe.ts";
import { rootPinOf } from "../../../src/trust/pins.ts";
import { bundleFrame, bundleOf, CLUSTER, newKeys } from "../../support/trust.ts";
import { PINS } from "./support.ts";

const keys = newKeys();
const pinsOf = (pinned: typeof keys) => ({
  ...PINS,
  cluster_id: CLUSTER,
  root_pin: rootPinOf(bundleOf(pinned).root),
});

test("SNAP-15: a bundle of the pinned root is believed", () => {
  expect(believeByPin(bundleFrame(keys), pinsOf(keys)).content).toEqual(bundleOf(keys));
});

test("SNAP-15: a whole and signed bundle of another root is refused by the pin", () => {
  const refused = () => believeByPin(bundleFrame(newKeys()), pinsOf(keys));
  expect(refused).toThrow(expect.objectContaining({ code: "PIN_MISMATCH" }));
});

test("SNAP-15: a bundle with the pinned root in it and signatures of another root is refused", () => {
  const others = newKeys();
  const frame = bundleFrame(keys, { signers: [others.roots[0], others.roots[1]] });
  expect(() => believeByPin(frame, pinsOf(keys))).toThrow();
});
