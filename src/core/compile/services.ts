/** Services: whole for the nodes that run them, only where to find them for the nodes that clients come in through. */
import type { Json } from "../json.ts";
import type { NodeState } from "./rows.ts";
import { sorted, sortedById } from "./sorted.ts";
import { isFor } from "./visible.ts";

export const compileServices = (state: NodeState): Json =>
  sortedById(state.services.filter((service) => isFor(state, service.organizationId))).map((service) => ({
    service_id: service.id,
    name: service.name,
    organization_id: service.organizationId,
    chain_profile_id: service.chainProfileId,
    resources: sorted(service.resources),
    connectors: sorted(service.connectors),
    secret_refs: sorted(service.secretRefs),
    ...(service.description === null ? {} : { description: service.description }),
  }));

export const serviceEndpoints = (state: NodeState): Json =>
  sortedById(state.cluster.serviceEndpoints.filter((service) => isFor(state, service.organizationId))).map(
    ({ id, organizationId, address }) => ({ service_id: id, organization_id: organizationId, address }),
  );
