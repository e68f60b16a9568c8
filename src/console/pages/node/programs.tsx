/** What runs beside what is installed: two fingerprints that differ are the first thing to see. */
import type { ProgramReport } from "../../../core/protocol/agent-api.ts";
import { Age } from "../../ui/age.tsx";
import { Chip } from "../../ui/chip.tsx";
import { Copyable, shortDigest } from "../../ui/copyable.tsx";
import { Empty } from "../../ui/empty.tsx";
import { HEALTH_LOOKS, SYNC_LOOKS } from "../../ui/tones.ts";
import { TableHead } from "../../ui/table-head.tsx";

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

export function Programs({ programs }: { readonly programs: readonly ProgramReport[] }) {
  return (
    <section className="panel" aria-labelledby="programs-heading">
      <div className="panel-head">
        <h2 id="programs-heading">Programs</h2>
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
              <ProgramRow key={program.chain_profile_id} program={program} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function ProgramRow({ program }: { readonly program: ProgramReport }) {
  const { running_fingerprint: running, installed_fingerprint: installed } = program;
  return (
    <tr>
      <th scope="row">{program.chain_profile_id}</th>
      <td data-label="Version" className="numbers">
        {program.version ?? <span className="muted">none</span>}
      </td>
      <td data-label="Health">
        <Chip look={HEALTH_LOOKS[program.application_health]} />
      </td>
      <td data-label="Sync">
        <Chip look={SYNC_LOOKS[program.sync_status]} />
      </td>
      <td data-label="Running">
        <Fingerprint value={running} name="running fingerprint" absent="not running" />
        {running !== null && installed !== null && running !== installed ? (
          <span className="row-note differs">differs from installed</span>
        ) : null}
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
