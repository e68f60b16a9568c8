/** Looks for trouble outside upgrades every few seconds, and for what comes to its end every few minutes. */
import { LIMITS } from "../../core/limits.ts";
import type { Logger } from "../../host/log.ts";
import type { Database } from "../db/database.ts";
import { repeat } from "../repeat.ts";
import type { OwnCertificates } from "./own-certificates.ts";
import { watchEndings, watchNodes, watchOwn, type Looked } from "./watch.ts";

const ENDINGS_LOOK_MS = 60_000;

export function startIncidentWatch(
  db: Database,
  { site, server }: OwnCertificates,
  log: Logger,
): { stop(): Promise<void> } {
  const tell = (looked: Looked | null): void => {
    if (looked !== null && looked.opened > 0) log.warn("incidents opened", { incidents: looked.opened });
    if (looked !== null && looked.resolved > 0)
      log.info("incidents resolved", { incidents: looked.resolved });
  };
  const nodes = repeat("watching nodes for incidents", LIMITS.healthLookMs, log, async () => {
    tell(await watchNodes(db));
  });
  const endings = repeat("watching certificates and keys", ENDINGS_LOOK_MS, log, async () => {
    tell(await watchEndings(db, site));
    tell(await watchOwn(db, server));
  });
  return {
    async stop() {
      await Promise.all([nodes.stop(), endings.stop()]);
    },
  };
}
