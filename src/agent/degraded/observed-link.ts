/** The link, and what its answers tell: that the control plane is there, or that this node is revoked (SNAP-10). */
import { FairleadError } from "../../core/errors.ts";
import type { Link } from "../link/link.ts";
import type { SnapshotStore } from "../snapshots/store.ts";
import type { Contact } from "./contact.ts";

export function observeLink(
  link: Link,
  contact: Contact,
  snapshots: Pick<SnapshotStore, "noteRefused">,
): Link {
  async function observed<T>(answer: Promise<T>): Promise<T> {
    try {
      const said = await answer;
      contact.answered();
      return said;
    } catch (error) {
      if (error instanceof FairleadError && error.code === "NODE_REVOKED") await snapshots.noteRefused();
      contact.failed(error);
      throw error;
    }
  }
  return {
    poll: (request, signal) => observed(link.poll(request, signal)),
    heartbeat: (heartbeat, signal) => observed(link.heartbeat(heartbeat, signal)),
    report: (request, signal) => observed(link.report(request, signal)),
    revocationPage: (digest) => observed(link.revocationPage(digest)),
    blob: (digest) => observed(link.blob(digest)),
    renew: (csr) => observed(link.renew(csr)),
    close: () => link.close(),
  };
}
