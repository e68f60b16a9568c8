/**
 * The site of a soak: server, PostgreSQL and Restate of its own, an origin for artifacts, and a time that the control
 * plane, the operator and every machine share. It is ahead of this machine's: a long outage moves it for all of them at
 * once, and it never comes back.
 */
import { startClockSite, type ClockSite } from "../support/clocks/clock-site.ts";
import { eventually } from "../support/lab/eventually.ts";
import { killHard } from "../support/lab/processes.ts";
import { createOperator, type SoakOperator } from "./operator.ts";

export interface SoakSite {
  readonly lab: ClockSite;
  readonly operator: SoakOperator;
  /** How far the site's time lies ahead of this machine's. */
  offsetSeconds(): number;
  now(): number;
  /** Time passes for the control plane and the operator; machines have clocks of their own. */
  pass(seconds: number): Promise<void>;
  /** The clock of the server and its database alone is wrong by so much. */
  shiftServer(seconds: number): Promise<void>;
  /** Ends the server, in order or hard. */
  endServer(how: "stop" | "kill"): Promise<void>;
  isReady(): Promise<true>;
}

export async function startSoakSite(note: (deed: string) => void): Promise<SoakSite> {
  const lab = await startClockSite({ requestIdentity: false });
  let offset = 0;
  const now = (): number => Date.now() + offset * 1000;
  return {
    lab,
    operator: createOperator({ home: lab.home, now, note }),
    offsetSeconds: () => offset,
    now,
    async pass(seconds) {
      offset += seconds;
      await lab.time.move(offset);
    },
    shiftServer: (seconds) => lab.time.move(offset + seconds),
    endServer: (how) => (how === "stop" ? lab.stopServer() : killHard(lab.server())),
    isReady: () => eventually("the server is ready", async () => (await lab.reasons()) === ""),
  };
}
