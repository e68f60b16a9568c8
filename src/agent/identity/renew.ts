/**
 * Renews the node's certificate when a third of its life is left; a failed try is repeated, the old one serves meanwhile.
 *
 * 1. Out of its time a certificate opens no connection, and without one nobody could be asked whether the gate is open:
 *    then only a known revocation keeps the node from asking with a proof.
 * 2. After a renewal by proof the doubt lasts until the control plane answers, and a wrong clock stays wrong: without a
 *    pause the node would ask again at once.
 */
import { X509Certificate } from "node:crypto";
import { FairleadError } from "../../core/errors.ts";
import { sleep } from "../../host/clock.ts";
import type { Logger } from "../../host/log.ts";
import type { GateKeeper } from "../degraded/gate-keeper.ts";
import type { Link } from "../link/link.ts";
import { generateNodeKey, requestFor } from "./csr.ts";
import { writeIdentity, type Identity } from "./store.ts";

/** The clock may be corrected at any time. */
const CHECK_MS_MAX = 60_000;

const RETRY_MS = 60_000;

type Standing = "good" | "due" | "out of time";

function standingOf(
  certificatePem: string,
  now: number,
): { readonly kind: Standing; readonly dueMs: number } {
  const { validFromDate, validToDate } = new X509Certificate(certificatePem);
  const [from, to] = [validFromDate.getTime(), validToDate.getTime()];
  const dueMs = to - (to - from) / 3 - now;
  if (now < from || now >= to) return { kind: "out of time", dueMs };
  return { kind: dueMs > 0 ? "good" : "due", dueMs };
}

export interface RenewalDeps {
  readonly identity: Identity;
  readonly dataDir: string;
  readonly now: () => number;
  /** The clock is unset and nobody answers: the certificate may have ended without this node's knowing it. */
  readonly isInDoubt: () => Promise<boolean>;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly keeper: Pick<GateKeeper, "passGate" | "ask">;
  readonly link: () => Link;
  readonly byProof: (identity: Identity, csr: string) => Promise<string>;
  readonly renewed: (identity: Identity) => void;
}

export async function keepRenewed(deps: RenewalDeps): Promise<void> {
  const { dataDir, now, isInDoubt, log, signal, keeper, link, byProof, renewed } = deps;
  let { identity } = deps;

  async function ask(standing: Standing, csr: string): Promise<string> {
    if (standing === "due") {
      keeper.passGate("issue_certificates");
      return link().renew(csr);
    }
    const gate = keeper.ask("issue_certificates");
    if (gate.kind === "closed" && gate.code === "AUTHORITY_REVOKED")
      throw new FairleadError(gate.code, gate.reason);
    return byProof(identity, csr); // (1)
  }

  while (!signal.aborted) {
    const { kind, dueMs } = standingOf(identity.certificate_chain, now());
    if (kind === "good" && !(await isInDoubt())) {
      await sleep(Math.min(dueMs, CHECK_MS_MAX), signal);
      continue;
    }
    try {
      const private_key = generateNodeKey();
      const certificate_chain = await ask(kind, requestFor(private_key));
      identity = { ...identity, private_key, certificate_chain };
      await writeIdentity(dataDir, identity);
      renewed(identity);
      log.info("certificate renewed");
      if (kind !== "due") await sleep(RETRY_MS, signal); // (2)
    } catch (error) {
      if (!signal.aborted) log.warn("certificate not renewed; trying again", { error: String(error) });
      await sleep(RETRY_MS, signal);
    }
  }
}
