/** What runs beside what is installed: two fingerprints that differ are the first thing to see. */
import { startedAloneText } from "../../../core/degraded/started-alone-text.ts";
import type { NodeView, ProgramView } from "../../../core/protocol/operator-api.ts";
import { claimOf, type Contact } from "../../../core/health/claim.ts";
import { Age } from "../../ui/age.tsx";
import { Chip } from "../../ui/chip.tsx";
import { Copyable, shortDigest } from "../../ui/copyable.tsx";
import { Empty } from "../../ui/empty.tsx";
import { TableHead } from "../../ui/table-head.tsx";
import { useNow } from "../../ui/use-now.ts";
import { contactNow, healthLook, syncLook } from "../fleet/node-facts.ts";

const COLUMNS = [
  "Program",
  "Version",
  "Health",
  "Sync",
  "Running",
  "Installed",
  "Started",
  "Restarts",
] as const;

export function Programs({ node }: { readonly node: NodeView }) {
  const { programs, last_heartbeat_at } = node;
  const contact = contactNow(node, useNow());
  return (
    <section className="panel" aria-labelledby="programs-heading">
      <div className="panel-head">
        <h2 id="programs-heading">Programs</h2>
        {contact === "late" || contact === "lost" ? (
          <p className="muted">
            As last reported, <Age at={last_heartbeat_at} />. Nothing was heard since.
          </p>
        ) : null}
      </div>
      {programs.length === 0 ? (
        <Empty title="The agent has reported no program yet.">
          <p>It does so with its first heartbeat.</p>
        </Empty>
      ) : (
        <table className="table cards-when-narrow" aria-labelledby="programs-heading">
          <TableHead columns={COLUMNS} />
          <tbody>
            {programs.map((program) => (
              <ProgramRow key={program.chain_profile_id} program={program} contact={contact} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

interface RowProps {
  readonly program: ProgramView;
  readonly contact: Contact;
}

function ProgramRow({ program, contact }: RowProps) {
  const now = useNow();
  const claim = claimOf(program, contact);
  const { running_fingerprint: running, installed_fingerprint: installed } = program;
  return (
    <tr>
      <th scope="row">{program.chain_profile_id}</th>
      <td data-label="Version" className="numbers">
        {program.version ?? <span className="muted">none</span>}
      </td>
      <td data-label="Health">
        <Chip {...healthLook(claim.application_health, program, now)} />
      </td>
      <td data-label="Sync">
        <Chip {...syncLook(claim.sync_status, program, now)} />
      </td>
      <td data-label="Running">
        <Fingerprint value={running} name="running fingerprint" absent="not running" />
        {running !== null && installed !== null && running !== installed ? (
          <span className="row-note differs">differs from installed</span>
        ) : null}
        {program.started_alone === undefined ? null : (
          <span className="row-note differs">{startedAloneText(program.started_alone)}</span>
        )}
      </td>
      <td data-label="Installed">
        <Fingerprint value={installed} name="installed fingerprint" absent="not installed" />
      </td>
      <td data-label="Started">
        <Age at={program.started_at} />
      </td>
      <td data-label="Restarts" className="numbers">
        {program.restarts}
      </td>
    </tr>
  );
}

interface FingerprintProps {
  readonly value: string | null;
  readonly name: string;
  readonly absent: string;
}

function Fingerprint({ value, name, absent }: FingerprintProps) {
  if (value === null) return <span className="muted">{absent}</span>;
  return <Copyable value={value} short={shortDigest(value)} name={name} />;
}
