/** A demo that does not come to its end (USE-1). */
import { expect, onTestFinished, test } from "vitest";
import { demoPlace, type DemoPlace, type RunningDemo } from "../../support/lab/demo.ts";

async function place(): Promise<DemoPlace> {
  const made = await demoPlace();
  onTestFinished(() => made.remove());
  return made;
}

const MOMENTS: Readonly<Record<string, (here: DemoPlace, demo: RunningDemo) => Promise<unknown>>> = {
  "its engines start": (here) => here.enginesBegin(),
  "its machines enroll": (_, demo) => demo.says("enrolling 2 machines"),
  "a program starts in its new version": (_, demo) => demo.says("in_progress STARTING"),
};

test.each(Object.keys(MOMENTS))(
  "USE-1: Ctrl-C while %s ends the demo and leaves nothing",
  async (moment) => {
    const here = await place();
    const demo = here.start("--once", "--nodes", "2");
    await MOMENTS[moment]!(here, demo);
    demo.signal("SIGINT");
    const { code } = await demo.ended();
    expect(code).not.toBe(0);
    expect(await here.leftBehind()).toEqual([]);
  },
  200_000,
);
