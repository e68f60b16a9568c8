/** Renews the node's certificate when a third of its life is left; a failed try is repeated, the old one serves meanwhile. */
import { X509Certificate } from "node:crypto";
import { sleep, type Clock } from "../../host/clock.ts";
import type { Logger } from "../../host/log.ts";
import type { Link } from "../link/link.ts";
import { generateNodeKey, requestFor } from "./csr.ts";
import { writeIdentity, type Identity } from "./store.ts";

const CHECK_MS_MAX = 3_600_000;

function renewAt(certificatePem: string): number {
  const { validFromDate, validToDate } = new X509Certificate(certificatePem);
  const [from, to] = [validFromDate.getTime(), validToDate.getTime()];
  return to - (to - from) / 3;
}

export async function keepRenewed(
  first: Identity,
  dataDir: string,
  clock: Clock,
  log: Logger,
  signal: AbortSignal,
  link: () => Link,
  renewed: (identity: Identity) => void,
): Promise<void> {
  let identity = first;
  while (!signal.aborted) {
    const due = renewAt(identity.certificate_chain) - clock.now();
    if (due > 0) {
      await sleep(Math.min(due, CHECK_MS_MAX), signal);
      continue;
    }
    try {
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
