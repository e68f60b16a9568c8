import { Link } from "@tanstack/react-router";
import { memo } from "react";
import type { NodeAuthority } from "../../../core/protocol/snapshot-api.ts";
import { Age } from "../../ui/age.tsx";
import { Chip } from "../../ui/chip.tsx";
import { SCOPE_WORDS, SNAPSHOT_LOOKS } from "./looks.ts";

export const AuthorityRow = memo(function AuthorityRow({ node }: { readonly node: NodeAuthority }) {
  const { in_force, never } = node.counts;
  return (
    <tr>
      <th scope="row">
        <Link to="/nodes/$nodeId/authority" params={{ nodeId: node.node_id }}>
          {node.node_name}
        </Link>
      </th>
      <td data-label="In force" className="numbers">
        {in_force}
        {never === 0 ? null : <span className="row-note">{never} not applied yet</span>}
      </td>
      <td data-label="Look at">
        {node.attention.length === 0 ? (
          <span className="muted">nothing</span>
        ) : (
          <ul className="look-at">
            {node.attention.map(({ scope, state, code }) => (
              <li key={scope}>
                <Chip look={SNAPSHOT_LOOKS[state]} />
                <span>{SCOPE_WORDS[scope]}</span>
                {code === null ? null : <code>{code}</code>}
              </li>
            ))}
          </ul>
        )}
      </td>
      <td data-label="Heartbeat">
        <Age at={node.last_heartbeat_at} />
      </td>
    </tr>
  );
});
