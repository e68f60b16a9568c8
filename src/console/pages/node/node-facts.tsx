import type { ReactNode } from "react";
import { judgedText } from "../../../core/health/claim.ts";
import type { NodeView } from "../../../core/protocol/operator-api.ts";
import { Link } from "@tanstack/react-router";
import { Copyable } from "../../ui/copyable.tsx";
import { dateTimeText } from "../../ui/time-text.ts";
import { useNow } from "../../ui/use-now.ts";
import { HeartbeatAge } from "../fleet/heartbeat-age.tsx";
import { contactNow } from "../fleet/node-facts.ts";

export function NodeFacts({ node }: { readonly node: NodeView }) {
  const labels = Object.entries(node.labels);
  const contact = contactNow(node, useNow());
  return (
    <section className="panel" aria-labelledby="facts-heading">
      <div className="panel-head">
        <h2 id="facts-heading">Facts</h2>
      </div>
      <dl className="facts">
        <Fact name="Id">
          <Copyable value={node.id} short={node.id.slice(0, 8)} name="node id" />
        </Fact>
        {node.profiles.map(({ chain_profile_id, state, binary_version }) => (
          <Fact key={chain_profile_id} name="Profile">
            {chain_profile_id} {binary_version ?? "unknown"}, {judgedText(state, contact)}
          </Fact>
        ))}
        <Fact name="Type">{node.node_type}</Fact>
        <Fact name="Roles">{node.roles.join(", ")}</Fact>
        <Fact name="Labels">
          {labels.length === 0 ? "none" : labels.map(([key, value]) => `${key}=${value}`).join(", ")}
        </Fact>
        <Fact name="Agent">{node.agent_version ?? "not heard from yet"}</Fact>
        <Fact name="Heartbeat">
          <HeartbeatAge node={node} />
        </Fact>
        <Fact name="Certificate until">
          {node.certificate_expires_at === null ? "none" : dateTimeText(node.certificate_expires_at)}
        </Fact>
        {node.revoked_at === null ? null : <Fact name="Revoked">{dateTimeText(node.revoked_at)}</Fact>}
        {node.copies.length === 0 ? null : (
          <Fact name="Copied key">
            {node.copies.map(({ host, address }) => `${host} (${address ?? "unknown address"})`).join(", ")}
          </Fact>
        )}
        {node.replaces === null ? null : (
          <Fact name="Replaces">
            <NodeLink id={node.replaces} />
          </Fact>
        )}
        {node.replaced_by === null ? null : (
          <Fact name="Replaced by">
            <NodeLink id={node.replaced_by} />
          </Fact>
        )}
      </dl>
    </section>
  );
}

const NodeLink = ({ id }: { readonly id: NodeView["id"] }) => (
  <Link to="/nodes/$nodeId" params={{ nodeId: id }}>
    {id.slice(0, 8)}
  </Link>
);

const Fact = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);
