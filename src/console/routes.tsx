/** Which address shows which page. */
import { createRootRoute, createRoute, createRouter } from "@tanstack/react-router";
import { z } from "zod";
import { IncidentStatus } from "../core/incident/states.ts";
import { AuthorityPage } from "./pages/authority/authority-page.tsx";
import { NodeAuthorityPage } from "./pages/authority/node-authority-page.tsx";
import { FleetPage } from "./pages/fleet/fleet-page.tsx";
import { Gate } from "./pages/gate.tsx";
import { GroupPage } from "./pages/group/group-page.tsx";
import { GroupsPage } from "./pages/groups/groups-page.tsx";
import { IncidentPage } from "./pages/incident/incident-page.tsx";
import { IncidentsPage } from "./pages/incidents/incidents-page.tsx";
import { NodePage } from "./pages/node/node-page.tsx";
import { NotFoundPage } from "./pages/not-found-page.tsx";
import { RolloutPage } from "./pages/rollout/rollout-page.tsx";
import { RolloutsPage } from "./pages/rollouts/rollouts-page.tsx";
import { WebhooksPage } from "./pages/webhooks/webhooks-page.tsx";
import { ErrorPanel } from "./ui/error-panel.tsx";

const root = createRootRoute({ component: Gate, notFoundComponent: NotFoundPage });

/** The filter is in the address, so that a view can be sent to a colleague. */
const FleetSearch = z.object({ q: z.string().max(500).optional().catch(undefined) });

const fleet = createRoute({
  getParentRoute: () => root,
  path: "/",
  validateSearch: (search) => FleetSearch.parse(search),
  component: function Fleet() {
    const { q } = fleet.useSearch();
    const navigate = fleet.useNavigate();
    const setFilter = (text: string) => navigate({ search: text === "" ? {} : { q: text }, replace: true });
    return <FleetPage filter={q ?? ""} onFilter={(text) => void setFilter(text)} />;
  },
});

const rollouts = createRoute({ getParentRoute: () => root, path: "/rollouts", component: RolloutsPage });

const rollout = createRoute({
  getParentRoute: () => root,
  path: "/rollouts/$rolloutId",
  component: function Rollout() {
    const { rolloutId } = rollout.useParams();
    // A key: nothing of one rollout may be shown under another's address.
    return <RolloutPage key={rolloutId} id={rolloutId} />;
  },
});

const node = createRoute({
  getParentRoute: () => root,
  path: "/nodes/$nodeId",
  component: function Node() {
    const { nodeId } = node.useParams();
    return <NodePage key={nodeId} id={nodeId} />;
  },
});

const groups = createRoute({ getParentRoute: () => root, path: "/groups", component: GroupsPage });

const group = createRoute({
  getParentRoute: () => root,
  path: "/groups/$groupId",
  component: function Group() {
    const { groupId } = group.useParams();
    return <GroupPage key={groupId} id={groupId} />;
  },
});

const IncidentSearch = z.object({ status: IncidentStatus.optional().catch(undefined) });

const incidents = createRoute({
  getParentRoute: () => root,
  path: "/incidents",
  validateSearch: (search) => IncidentSearch.parse(search),
  component: function Incidents() {
    const { status } = incidents.useSearch();
    const navigate = incidents.useNavigate();
    const show = (wanted: IncidentStatus | null) =>
      navigate({ search: wanted === null ? {} : { status: wanted }, replace: true });
    return <IncidentsPage status={status ?? null} onStatus={(wanted) => void show(wanted)} />;
  },
});

const incident = createRoute({
  getParentRoute: () => root,
  path: "/incidents/$incidentId",
  component: function Incident() {
    const { incidentId } = incident.useParams();
    return <IncidentPage key={incidentId} id={incidentId} />;
  },
});

const webhooks = createRoute({ getParentRoute: () => root, path: "/webhooks", component: WebhooksPage });

const authority = createRoute({ getParentRoute: () => root, path: "/authority", component: AuthorityPage });

const nodeAuthority = createRoute({
  getParentRoute: () => root,
  path: "/nodes/$nodeId/authority",
  component: function NodeAuthority() {
    const { nodeId } = nodeAuthority.useParams();
    return <NodeAuthorityPage key={nodeId} id={nodeId} />;
  },
});

const routeTree = root.addChildren([
  fleet,
  rollouts,
  rollout,
  groups,
  group,
  incidents,
  incident,
  webhooks,
  node,
  authority,
  nodeAuthority,
]);

export const createConsoleRouter = () =>
  createRouter({
    routeTree,
    scrollRestoration: true,
    defaultErrorComponent: ({ error }) => <ErrorPanel error={error} title="This page broke" />,
  });

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}
