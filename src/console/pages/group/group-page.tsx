/** One group: its components in order, the gate between them, and the controls. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { GroupView } from "../../../core/protocol/group-api.ts";
import { groupQuery } from "../../api/steer-queries.ts";
import { useFleetEvents } from "../../api/use-fleet-events.ts";
import { Chip } from "../../ui/chip.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { StatusAnnouncer } from "../../ui/status-announcer.tsx";
import { dateTimeText } from "../../ui/time-text.ts";
import { GROUP_LOOKS, POLICY_WORDS } from "../../ui/tones.ts";
import { usePageTitle } from "../../ui/use-page-title.ts";
import { Component } from "./component.tsx";
import { Gate } from "./gate.tsx";
import { GroupControls } from "./group-controls-bar.tsx";
import { WhyLine } from "../rollout/why-line.tsx";
import { groupWhy } from "./group-why.ts";
import "../rollout/rollout-page.css";
import "./group-page.css";

export function GroupPage({ id }: { readonly id: string }) {
  useFleetEvents();
  const { data: group, error, refetch } = useQuery(groupQuery(id));
  usePageTitle(group === undefined ? "Group" : `Group ${group.chain_profile_id}`);
  return (
    <div className="page">
      <nav aria-label="Breadcrumb" className="breadcrumb">
        <Link to="/groups">Groups</Link>
      </nav>
      {group === undefined ? (
        <>
          <h1>Group</h1>
          {error === null ? <Skeleton lines={6} name="the group" /> : null}
          {error === null ? null : <ErrorPanel error={error} onRetry={() => void refetch()} />}
        </>
      ) : (
        <>
          <StatusAnnouncer name="Group" look={GROUP_LOOKS[group.status]} why={group.why?.text ?? null} />
          <Header group={group} />
          <section className="panel" aria-labelledby="components-heading">
            <div className="panel-head">
              <h2 id="components-heading">Components, in order</h2>
            </div>
            <ol className="components">
              {group.components.map((component, at) => (
                <li key={component.component_index}>
                  <Component component={component} isCurrent={at === group.current_component} />
                  {at === group.components.length - 1 ? null : <Gate group={group} after={at} />}
                </li>
              ))}
            </ol>
          </section>
        </>
      )}
    </div>
  );
}

function Header({ group }: { readonly group: GroupView }) {
  return (
    <header className="rollout-header">
      <div className="rollout-title">
        <h1>Group {group.chain_profile_id}</h1>
        <Chip look={GROUP_LOOKS[group.status]} note={noteOf(group)} />
        <GroupControls group={group} />
      </div>
      <WhyLine why={(now) => groupWhy(group, now)} />
      <ul className="rollout-facts" aria-label="Facts">
        <li>
          when a component fails: {POLICY_WORDS[group.failure_policy]} (
          {group.failure_policy.replaceAll("_", " ")})
        </li>
        <li>{group.strategy.replaceAll("_", " ")}</li>
        <li>
          {Object.entries(group.desired_versions)
            .map(([name, version]) => `${name} ${version}`)
            .join(", ")}
        </li>
        <li>
          created by {group.created_by}, {dateTimeText(group.created_at)}
        </li>
      </ul>
    </header>
  );
}

function noteOf({ status, pause_requested, cancel_requested }: GroupView): string | undefined {
  if (status !== "running") return undefined;
  if (cancel_requested) return "cancelling";
  return pause_requested ? "pausing" : undefined;
}
