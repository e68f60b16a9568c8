/** Suites that share one real site: starting one costs more than most of them. Each has a profile of its own. */
import { afterAll, beforeAll } from "vitest";
import { startLab, type Lab } from "../../support/lab/lab.ts";
import { authority } from "./one-site/authority.ts";
import { closedWindow } from "./one-site/closed-window.ts";
import { controlPlaneStopped } from "./one-site/control-plane-stopped.ts";
import { creationRules } from "./one-site/creation-rules.ts";
import { enrollmentClears } from "./one-site/enrollment-clears.ts";
import { failedSecond } from "./one-site/failed-second.ts";
import { refusedAgain } from "./one-site/refused-again.ts";
import { renderedConfigs } from "./one-site/rendered-configs.ts";
import { revocation } from "./one-site/revocation.ts";
import { signals } from "./one-site/signals.ts";
import { upgradeAgain } from "./one-site/upgrade-again.ts";

let lab: Lab;
beforeAll(async () => {
  lab = await startLab();
}, 120_000);
afterAll(async () => lab.stop(), 120_000);

authority(() => lab);
closedWindow(() => lab);
creationRules(() => lab);
enrollmentClears(() => lab);
failedSecond(() => lab);
refusedAgain(() => lab);
renderedConfigs(() => lab);
revocation(() => lab);
signals(() => lab);
upgradeAgain(() => lab);
controlPlaneStopped(() => lab); // the last: the server does not come back
