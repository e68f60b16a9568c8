/** What was sent to a webhook, newest first, what was answered, and a way to send it again. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Button } from "react-aria-components/Button";
import { DeliveryView, type WebhookView } from "../../../core/protocol/incident-api.ts";
import { request } from "../../api/http.ts";
import { KEYS } from "../../api/queries.ts";
import { deliveriesQuery } from "../../api/steer-queries.ts";
import { Age } from "../../ui/age.tsx";
import { Chip } from "../../ui/chip.tsx";
import { Empty } from "../../ui/empty.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { TableHead } from "../../ui/table-head.tsx";
import { DELIVERY_LOOKS } from "../../ui/tones.ts";

const COLUMNS = ["Event", "Status", "Attempts", "Answer", "Created", "Action"] as const;

export function Deliveries({ hook }: { readonly hook: WebhookView }) {
  const { data, error, refetch } = useQuery(deliveriesQuery(hook.id));
  return (
    <section className="panel" aria-labelledby="deliveries-heading">
      <div className="panel-head">
        <h2 id="deliveries-heading">Deliveries to {hook.name}</h2>
      </div>
      {error !== null && data === undefined ? (
        <ErrorPanel error={error} onRetry={() => void refetch()} />
      ) : null}
      {data === undefined && error === null ? <Skeleton lines={4} name="deliveries" /> : null}
      {data?.deliveries.length === 0 ? (
        <Empty title="Nothing was sent to it yet.">
          <p>Send it a test to see that it answers.</p>
        </Empty>
      ) : null}
      {data === undefined || data.deliveries.length === 0 ? null : (
        <table className="table cards-when-narrow" aria-labelledby="deliveries-heading">
          <TableHead columns={COLUMNS} />
          <tbody>
            {data.deliveries.map((delivery) => (
              <DeliveryRow key={delivery.id} delivery={delivery} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function DeliveryRow({ delivery }: { readonly delivery: DeliveryView }) {
  const client = useQueryClient();
  const { webhook_id, id } = delivery;
  const again = useMutation({
    mutationFn: () =>
      request(DeliveryView, `/webhooks/${webhook_id}/deliveries/${id}/redeliver`, {
        method: "POST",
        body: {},
      }),
    onSettled: () => client.invalidateQueries({ queryKey: KEYS.deliveries(webhook_id) }),
  });
  const what = delivery.kind.replaceAll("_", " ");
  return (
    <tr>
      <th scope="row">{what}</th>
      <td data-label="Status">
        <Chip look={DELIVERY_LOOKS[delivery.status]} />
      </td>
      <td data-label="Attempts" className="numbers">
        {delivery.attempts}
      </td>
      <td data-label="Answer">
        {delivery.last_status === null ? "none" : `HTTP ${delivery.last_status}`}
        <span className="row-note">{again.error?.message ?? delivery.last_error ?? ""}</span>
      </td>
      <td data-label="Created">
        <Age at={delivery.created_at} />
      </td>
      <td data-label="Action">
        <Button className="button" aria-label={`Send again: ${what}`} onPress={() => again.mutate()}>
          Send again
        </Button>
      </td>
    </tr>
  );
}
