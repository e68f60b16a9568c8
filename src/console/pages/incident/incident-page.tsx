/** One incident: what happened, the recovery plan as it was written, and who has taken care of it. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { Button } from "react-aria-components/Button";
import { Group } from "react-aria-components/Group";
import { INCIDENT_STEPS, stepIncident, type IncidentStep } from "../../../core/incident/states.ts";
import { IncidentView } from "../../../core/protocol/incident-api.ts";
import { request } from "../../api/http.ts";
import { KEYS } from "../../api/queries.ts";
import { incidentQuery } from "../../api/steer-queries.ts";
import { useFleetEvents } from "../../api/use-fleet-events.ts";
import { Chip } from "../../ui/chip.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { ReasonDialog, type Question } from "../../ui/reason-dialog.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { dateTimeText } from "../../ui/time-text.ts";
import { CATEGORY_LABELS, INCIDENT_LOOKS, SEVERITY_LOOKS } from "../../ui/tones.ts";
import { usePageTitle } from "../../ui/use-page-title.ts";
import "./incident-page.css";

const QUESTIONS: Record<IncidentStep, Question> = {
  acknowledge: {
    title: "Acknowledge this incident",
    effect: "Others see that you look at it.",
    confirm: "Acknowledge",
    reason: "optional",
    reasonLabel: "Note",
  },
  resolve: {
    title: "Resolve this incident",
    effect: "It opens again when the same trouble comes back after it was over.",
    confirm: "Resolve",
    reason: "required",
    reasonLabel: "Note",
  },
};

export function IncidentPage({ id }: { readonly id: string }) {
  useFleetEvents();
  const { data: incident, error, refetch } = useQuery(incidentQuery(id));
  usePageTitle(incident?.title ?? "Incident");
  return (
    <div className="page">
      <nav aria-label="Breadcrumb" className="breadcrumb">
        <Link to="/incidents">Incidents</Link>
      </nav>
      {incident === undefined ? (
        <>
          <h1>Incident</h1>
          {error === null ? <Skeleton lines={6} name="the incident" /> : null}
          {error === null ? null : <ErrorPanel error={error} onRetry={() => void refetch()} />}
        </>
      ) : (
        <>
          <div className="title-line">
            <h1>{incident.title}</h1>
            <Chip look={SEVERITY_LOOKS[incident.severity]} />
            <Chip look={INCIDENT_LOOKS[incident.status]} />
            <Steps incident={incident} />
          </div>
          <div className="incident-panels">
            <RecoveryPlan plan={incident.recovery_plan} />
            <Facts incident={incident} />
          </div>
        </>
      )}
    </div>
  );
}

function Steps({ incident }: { readonly incident: IncidentView }) {
  const [asking, setAsking] = useState<IncidentStep | null>(null);
  const client = useQueryClient();

  async function take(step: IncidentStep, note: string | undefined, key: string): Promise<void> {
    const path = `/incidents/${encodeURIComponent(incident.id)}/${step}`;
    const body = note === undefined ? {} : { note };
    try {
      const newer = await request(IncidentView, path, { method: "POST", body, key });
      client.setQueryData(incidentQuery(incident.id).queryKey, newer);
    } finally {
      void client.invalidateQueries({ queryKey: KEYS.incidents });
    }
  }

  return (
    <Group className="incident-steps" aria-label="Incident controls">
      {INCIDENT_STEPS.map((step) => (
        <Button
          key={step}
          className="button"
          data-kind={step === "resolve" ? "primary" : "plain"}
          isDisabled={stepIncident(incident.status, step) === undefined}
          onPress={() => setAsking(step)}
        >
          {QUESTIONS[step].confirm}
        </Button>
      ))}
      <ReasonDialog
        question={asking === null ? null : QUESTIONS[asking]}
        onClose={() => setAsking(null)}
        onConfirm={(note, key) => take(asking!, note, key)}
      />
    </Group>
  );
}

function RecoveryPlan({ plan }: { readonly plan: string | null }) {
  return (
    <section className="panel" aria-labelledby="plan-heading">
      <div className="panel-head">
        <h2 id="plan-heading">Recovery plan</h2>
      </div>
      {plan === null ? (
        <p className="panel-note muted">There is no recovery plan for this incident.</p>
      ) : (
        // As text, whatever stands in it.
        <pre className="recovery-plan">{plan}</pre>
      )}
    </section>
  );
}

function Facts({ incident }: { readonly incident: IncidentView }) {
  const by = (at: string | null, who: string | null): string =>
    at === null ? "not yet" : `${dateTimeText(at)}${who === null ? "" : ` by ${who}`}`;
  return (
    <section className="panel" aria-labelledby="facts-heading">
      <div className="panel-head">
        <h2 id="facts-heading">Facts</h2>
      </div>
      <dl className="facts">
        <Fact name="Category">{CATEGORY_LABELS[incident.category]}</Fact>
        <Fact name="Node">
          {incident.node_id === null ? (
            "none"
          ) : (
            <Link to="/nodes/$nodeId" params={{ nodeId: incident.node_id }}>
              {incident.node_name ?? incident.node_id}
            </Link>
          )}
        </Fact>
        <Fact name="Rollout">
          {incident.rollout_id === null ? (
            "none"
          ) : (
            <Link to="/rollouts/$rolloutId" params={{ rolloutId: incident.rollout_id }}>
              {incident.rollout_id.slice(0, 8)}
            </Link>
          )}
        </Fact>
        {incident.subject === "" ? null : <Fact name="About">{incident.subject}</Fact>}
        <Fact name="Opened">{dateTimeText(incident.opened_at)}</Fact>
        {incident.last_seen_at === null ? null : (
          <Fact name="Last seen">{dateTimeText(incident.last_seen_at)}</Fact>
        )}
        <Fact name="Acknowledged">{by(incident.acknowledged_at, incident.acknowledged_by)}</Fact>
        <Fact name="Resolved">{by(incident.resolved_at, incident.resolved_by)}</Fact>
        <Fact name="Note">{incident.note ?? "none"}</Fact>
        {Object.entries(incident.detail).map(([name, value]) => (
          <Fact key={name} name={name}>
            <code>{typeof value === "string" ? value : JSON.stringify(value)}</code>
          </Fact>
        ))}
      </dl>
    </section>
  );
}

const Fact = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);
