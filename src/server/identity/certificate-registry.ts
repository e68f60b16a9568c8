/**
 * Which certificates are good, without asking the database for each request.
 *
 * 1. A revocation forgets the node's certificates; an answer that was read before it is not kept after it.
 * 2. Unknown serials are not kept, so a certificate is good as soon as its row is there.
 * 3. The first use of a certificate is recorded: from then on its predecessors renew nothing (renewal-by-proof.ts).
 */
import type { NodeId } from "../../core/ids.ts";
import type { Database } from "../db/database.ts";

export type CertificateStatus =
  | { readonly kind: "good"; readonly nodeId: NodeId }
  | { readonly kind: "revoked"; readonly nodeId: NodeId }
  | { readonly kind: "unknown" };

export interface CertificateRegistry {
  /** Raised by each revocation: what was decided in an older one is decided again. */
  generation(): number;
  known(serial: string): CertificateStatus | undefined;
  look(serial: string): Promise<CertificateStatus>;
  forget(nodeId: NodeId): void;
}

/** Above every fleet this is built for; beyond it the registry starts afresh instead of growing. */
const entriesMax = 250_000;

export function createCertificateRegistry(db: Database): CertificateRegistry {
  const bySerial = new Map<string, CertificateStatus>();
  let generation = 0;

  async function look(serial: string): Promise<CertificateStatus> {
    for (;;) {
      const asked = generation;
      const status = await read(db, serial);
      if (asked !== generation) continue; // (1)
      if (status.kind === "unknown") return status; // (2)
      if (bySerial.size >= entriesMax) bySerial.clear();
      bySerial.set(serial, status);
      return status;
    }
  }

  return {
    look,
    generation: () => generation,
    known: (serial) => bySerial.get(serial),
    forget(nodeId) {
      generation++;
      for (const [serial, status] of bySerial) {
        if (status.kind === "good" && status.nodeId === nodeId) bySerial.delete(serial);
      }
    },
  };
}

async function read(db: Database, serial: string): Promise<CertificateStatus> {
  const [row] = await db<{ node_id: NodeId; revoked: boolean; used: boolean }[]>`
    select c.node_id, (c.revoked_at is not null or n.revoked_at is not null) as revoked, c.first_use is not null as used
    from node_certificates c join nodes n on n.id = c.node_id where c.serial = ${serial}`;
  if (row === undefined) return { kind: "unknown" };
  if (row.revoked) return { kind: "revoked", nodeId: row.node_id };
  if (!row.used)
    await db`
      update node_certificates set first_use = nextval('certificate_first_uses')
      where serial = ${serial} and first_use is null`; // (3)
  return { kind: "good", nodeId: row.node_id };
}
