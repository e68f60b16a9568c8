/** Runs `work` at once and then at most once per `intervalMs`; what was asked for in between runs once, at the end. */
export interface Throttled {
  (): void;
  cancel: () => void;
}

export function throttle(intervalMs: number, work: () => void): Throttled {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isDue = false;

  function tick(): void {
    timer = undefined;
    if (!isDue) return;
    isDue = false;
    run();
  }

  function run(): void {
    timer = setTimeout(tick, intervalMs);
    work();
  }

  function call(): void {
    if (timer === undefined) run();
    else isDue = true;
  }

  return Object.assign(call, { cancel: () => clearTimeout(timer) });
}
