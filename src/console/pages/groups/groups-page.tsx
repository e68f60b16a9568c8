/** Every group of rollouts, newest first. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { GroupView } from "../../../core/protocol/group-api.ts";
import { groupsQuery } from "../../api/steer-queries.ts";
import { useFleetEvents } from "../../api/use-fleet-events.ts";
import { Age } from "../../ui/age.tsx";
import { Chip } from "../../ui/chip.tsx";
import { Empty } from "../../ui/empty.tsx";
import { ListPanel } from "../../ui/list-page.tsx";
import { GROUP_LOOKS, ROLLOUT_LOOKS } from "../../ui/tones.ts";
import { usePageTitle } from "../../ui/use-page-title.ts";
import "./groups-page.css";

const COLUMNS = ["Group", "Status", "Components", "Created"] as const;

export function GroupsPage() {
  usePageTitle("Groups");
  useFleetEvents();
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } =
    useInfiniteQuery(groupsQuery);
  const groups = data?.pages.flatMap((page) => page.groups);
  return (
    <div className="page">
      <h1 id="groups-heading">Groups</h1>
      <ListPanel
        headingId="groups-heading"
        name="groups"
        columns={COLUMNS}
        className="groups-table"
        error={error}
        onRetry={() => void refetch()}
        rows={groups?.map((group) => (
          <GroupRow key={group.id} group={group} />
        ))}
        empty={<NoGroups />}
        more={hasNextPage ? { isBusy: isFetchingNextPage, onPress: () => void fetchNextPage() } : null}
      />
    </div>
  );
}

function GroupRow({ group }: { readonly group: GroupView }) {
  return (
    <tr>
      <th scope="row">
        <Link to="/groups/$groupId" params={{ groupId: group.id }}>
          {group.chain_profile_id}: {group.components.map(({ binary_name }) => binary_name).join(", ")}
        </Link>
        <span className="row-note">{group.failure_policy.replaceAll("_", " ")} when a component fails</span>
      </th>
      <td data-label="Status">
        <div>
          <Chip look={GROUP_LOOKS[group.status]} />
          <span className="row-note">{group.why?.text ?? ""}</span>
        </div>
      </td>
      <td data-label="Components">
        <ol className="component-dots">
          {group.components.map(({ component_index, binary_name, rollout }) => (
            <li key={component_index} data-tone={ROLLOUT_LOOKS[rollout.status].tone}>
              {binary_name}
              <span className="visually-hidden">: {ROLLOUT_LOOKS[rollout.status].label}</span>
            </li>
          ))}
        </ol>
      </td>
      <td data-label="Created">
        <div>
          <Age at={group.created_at} />
          <span className="row-note">by {group.created_by}</span>
        </div>
      </td>
    </tr>
  );
}

const NoGroups = () => (
  <Empty title="No group has been created yet.">
    <p>
      A group upgrades several programs one after the other:{" "}
      <code>fairlead group create --file group.yaml</code>.
    </p>
  </Empty>
);
