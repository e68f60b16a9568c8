/** A virtual clock: what is due runs in the order of its time, what is due at once in the order of its arrival. */
export type Timeline = ReturnType<typeof createTimeline>;

/** A run that does not end is a fault of its own. */
const EVENTS_MAX = 200_000;

export function createTimeline() {
  /** Latest first: the next one is popped. */
  const due: { at: number; run: (now: number) => void }[] = [];
  let now = 0;
  return {
    now: () => now,
    /** Time does not go back: what was due before is due at once. */
    after(wanted: number, run: (now: number) => void): void {
      const at = Math.max(wanted, now);
      let [low, high] = [0, due.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (due[middle]!.at > at) low = middle + 1;
        else high = middle;
      }
      due.splice(low, 0, { at, run });
    },
    /** Until nothing is due any more, or nothing before `end`. */
    runAll(end = Infinity): void {
      let events = 0;
      for (let next = due.at(-1); next !== undefined && next.at < end; next = due.at(-1)) {
        due.pop();
        now = next.at;
        next.run(now);
        if (++events > EVENTS_MAX) throw new Error("the run does not come to an end");
      }
    },
  };
}
