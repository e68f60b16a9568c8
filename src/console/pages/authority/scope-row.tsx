/** One scope of a node: where it stands, until when, who signed it, and what it refused. */
import { memo } from "react";
import type { PublishedSnapshot, ScopeView } from "../../../core/protocol/snapshot-api.ts";
import { Age } from "../../ui/age.tsx";
import { Chip } from "../../ui/chip.tsx";
import { Copyable } from "../../ui/copyable.tsx";
import { dateTimeText } from "../../ui/time-text.ts";
import { ExpiryBar } from "./expiry-bar.tsx";
import { SCOPE_WORDS, SNAPSHOT_LOOKS } from "./looks.ts";
import { Trouble } from "./trouble.tsx";

export const COLUMNS = ["Scope", "State", "Version", "Issued", "Valid for", "Signer"] as const;

/** An unchanged view keeps its identity across reads, so only what changed is drawn. */
export const ScopeRow = memo(function ScopeRow({ view }: { readonly view: ScopeView }) {
  const { scope, state, published } = view;
  return (
    <>
      <tr className="scope-row">
        <th scope="row">
          {SCOPE_WORDS[scope]}
          <code className="row-note">{scope}</code>
        </th>
        <td data-label="State">
          <Chip look={SNAPSHOT_LOOKS[state]} />
        </td>
        <td data-label="Version" className="numbers">
          <Version view={view} />
        </td>
        <td data-label="Issued">
          <Age at={published?.issued_at ?? null} />
        </td>
        <td data-label="Valid for">
          {published === null ? (
            <span className="muted">nothing published</span>
          ) : (
            <Validity view={view} published={published} />
          )}
        </td>
        <td data-label="Signer">
          {published === null ? (
            <span className="muted">nobody</span>
          ) : (
            <Copyable
              value={published.signer_key_id}
              short={published.signer_key_id.slice(0, 12)}
              name={`signer of ${scope}`}
            />
          )}
        </td>
      </tr>
      <Trouble view={view} columns={COLUMNS.length} />
    </>
  );
});

/** The bar is of what is published; where the node still holds another, a line says how long that lasts. */
function Validity({ view, published }: { readonly view: ScopeView; readonly published: PublishedSnapshot }) {
  const { applied, applied_expires_at: end } = view;
  const held = applied !== null && end !== null && end !== published.expires_at;
  return (
    <>
      <ExpiryBar span={published} />
      {held ? (
        <span className="row-note">
          version {applied.version} until {dateTimeText(end)}
        </span>
      ) : null}
    </>
  );
}

function Version({ view: { published, applied } }: { readonly view: ScopeView }) {
  if (applied === null)
    return <span className="muted">{published === null ? "none" : `${published.version} published`}</span>;
  const differs =
    published !== null && (published.version !== applied.version || published.epoch !== applied.epoch);
  return (
    <>
      {applied.version}
      <span className="row-note">
        epoch {applied.epoch}
        {differs ? `, ${published.version} published` : ""}
      </span>
    </>
  );
}
