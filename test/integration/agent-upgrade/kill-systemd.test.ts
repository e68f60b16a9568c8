import { afterAll, beforeAll } from "vitest";
import { type Hosts, startHosts } from "../../support/hosts/hosts.ts";
import { unitOn } from "../../support/hosts/unit.ts";
import { machine } from "../../support/programs/machine.ts";
import { INSIDE_INSTALL, INSIDE_RESTORE, killSuite } from "./kill-suite.ts";

let hosts: Hosts;
beforeAll(async () => void (hosts = await startHosts({ count: 1 })));
afterAll(async () => hosts.stop());

const RUN = String.raw`rename .*/50-fairlead\.conf$`;

killSuite(
  "systemd",
  async () => machine(undefined, { parent: hosts.all[0]!.shared, surroundings: unitOn(hosts.all[0]!) }),
  {
    inside: {
      ...INSIDE_INSTALL,
      "stop, before systemd is asked": [String.raw`sync .*\.service\.d$`],
      "start, when an instance id is claimed and nothing says so": [RUN],
      "start, when the run is written and systemd may not start it": [
        RUN,
        String.raw`unlink .*/90-fairlead-stopped\.conf$`,
      ],
      "start, when it runs and nobody noted it": [String.raw`rename .*/started\.json$`],
    },
    whileTakenBack: { "the program": INSIDE_RESTORE, "the run": [RUN, RUN] },
  },
);
