/** Renews the node's certificate when a third of its life is left; a failed try is repeated, the old one serves meanwhile. */
import { X509Certificate } from "node:crypto";
import { sleep, type Clock } from "../../host/clock.ts";
import type { Logger } from "../../host/log.ts";
import type { GateKeeper } from "../degraded/gate-keeper.ts";
import type { Link } from "../link/link.ts";
import { generateNodeKey, requestFor } from "./csr.ts";
import { writeIdentity, type Identity } from "./store.ts";

const CHECK_MS_MAX = 3_600_000;

function renewAt(certificatePem: string): number {
  const { validFromDate, validToDate } = new X509Certificate(certificatePem);
  const [from, to] = [validFromDate.getTime(), validToDate.getTime()];
  return to - (to - from) / 3;
}

export interface RenewalDeps {
  readonly identity: Identity;
  readonly dataDir: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly keeper: Pick<GateKeeper, "passGate">;
  readonly link: () => Link;
  readonly renewed: (identity: Identity) => void;
}

export async function keepRenewed(deps: RenewalDeps): Promise<void> {
  const { dataDir, clock, log, signal, keeper, link, renewed } = deps;
  let { identity } = deps;
  while (!signal.aborted) {
    const due = renewAt(identity.certificate_chain) - clock.now();
    if (due > 0) {
      await sleep(Math.min(due, CHECK_MS_MAX), signal);
      continue;
    }
    try {
      keeper.passGate("issue_certificates");
      const private_key = generateNodeKey();
      const certificate_chain = await link().renew(requestFor(private_key));
      identity = { ...identity, private_key, certificate_chain };
      await writeIdentity(dataDir, identity);
      renewed(identity);
      log.info("certificate renewed");
    } catch (error) {
      if (!signal.aborted) log.warn("certificate not renewed; trying again", { error: String(error) });
      await sleep(60_000, signal);
    }
  }
}
