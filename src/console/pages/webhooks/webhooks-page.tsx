/** Who is told of rollouts and incidents, and what was sent. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "react-aria-components/Button";
import { NOTIFICATIONS, type WebhookView } from "../../../core/protocol/incident-api.ts";
import { webhooksQuery } from "../../api/steer-queries.ts";
import { useFleetEvents } from "../../api/use-fleet-events.ts";
import { Chip } from "../../ui/chip.tsx";
import { Empty } from "../../ui/empty.tsx";
import { ListPanel } from "../../ui/list-page.tsx";
import { usePageTitle } from "../../ui/use-page-title.ts";
import { AddWebhook } from "./add-webhook.tsx";
import { Deliveries } from "./deliveries.tsx";
import { WebhookActions } from "./webhook-actions.tsx";
import "./webhooks-page.css";

const COLUMNS = ["Webhook", "State", "Told of", "Actions"] as const;

export function WebhooksPage() {
  usePageTitle("Webhooks");
  useFleetEvents();
  const { data, error, refetch } = useQuery(webhooksQuery);
  const [shownId, show] = useState<string | null>(null);
  const shown = data?.webhooks.find(({ id }) => id === shownId);
  return (
    <div className="page">
      <div className="title-line">
        <h1 id="webhooks-heading">Webhooks</h1>
        <AddWebhook />
      </div>
      <ListPanel
        headingId="webhooks-heading"
        name="webhooks"
        columns={COLUMNS}
        className="webhooks-table"
        error={error}
        onRetry={() => void refetch()}
        rows={data?.webhooks.map((hook) => (
          <WebhookRow key={hook.id} hook={hook} isShown={hook.id === shownId} onShow={show} />
        ))}
        empty={<NoWebhooks />}
      />
      {shown === undefined ? null : <Deliveries key={shown.id} hook={shown} />}
    </div>
  );
}

interface RowProps {
  readonly hook: WebhookView;
  readonly isShown: boolean;
  readonly onShow: (id: string | null) => void;
}

function WebhookRow({ hook, isShown, onShow }: RowProps) {
  const state = hook.enabled
    ? ({ tone: "good", icon: "check", label: "Enabled" } as const)
    : ({ tone: "neutral", icon: "pause", label: "Disabled" } as const);
  return (
    <tr>
      <th scope="row">
        {hook.name}
        <span className="row-note">{hook.url}</span>
      </th>
      <td data-label="State">
        <Chip look={state} />
      </td>
      <td data-label="Told of">
        {hook.events.length === NOTIFICATIONS.length
          ? "everything"
          : hook.events.map((event) => event.replaceAll("_", " ")).join(", ")}
      </td>
      <td data-label="Actions">
        <span className="webhook-actions">
          <Button
            className="button"
            aria-label={`Deliveries of ${hook.name}`}
            aria-expanded={isShown}
            onPress={() => onShow(isShown ? null : hook.id)}
          >
            Deliveries
          </Button>
          <WebhookActions hook={hook} />
        </span>
      </td>
    </tr>
  );
}

const NoWebhooks = () => (
  <Empty title="Nobody is told yet.">
    <p>A webhook hears of rollouts and incidents as they happen, in the Standard Webhooks form.</p>
  </Empty>
);
