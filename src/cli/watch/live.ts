/** Redraws the picture a few times a second, and asks the server for what events do not say, at most once a second. */
import type { RolloutView } from "../../core/protocol/operator-api.ts";
import type { Call } from "../call.ts";
import type { Redraw } from "../io.ts";
import type { WatchModel } from "./model.ts";
import { renderWatch } from "./render.ts";

const REDRAW_EVERY_MS = 200;
const REREAD_EVERY_MS = 1000;

export function liveView(
  { io, paint }: Call,
  screen: Redraw,
  model: WatchModel,
  reread: () => Promise<RolloutView>,
) {
  let rereadAt = io.now();
  let asking = false;
  let behind = true;

  const draw = (): void => screen.show(renderWatch(model.view(), io.now(), paint, screen.columns()));

  function tick(): void {
    draw();
    if (asking || !behind || io.now() - rereadAt < REREAD_EVERY_MS) return;
    asking = true;
    behind = false;
    rereadAt = io.now();
    // A failure here is the event stream's to report: it speaks to the same server.
    reread()
      .then(model.refresh, () => undefined)
      .finally(() => (asking = false));
  }

  draw();
  const timer = setInterval(tick, REDRAW_EVERY_MS);
  return {
    changed: (): void => void (behind = true),
    end: (): void => {
      clearInterval(timer);
      draw();
      screen.done();
    },
  };
}
