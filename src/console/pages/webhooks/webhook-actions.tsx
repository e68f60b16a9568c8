import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "react-aria-components/Button";
import { DeliveryView, WebhookView } from "../../../core/protocol/incident-api.ts";
import { request, send } from "../../api/http.ts";
import { KEYS } from "../../api/queries.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";

export function WebhookActions({ hook }: { readonly hook: WebhookView }) {
  const client = useQueryClient();
  const [isRemoving, setRemoving] = useState(false);
  const base = `/webhooks/${encodeURIComponent(hook.id)}`;
  const refresh = () => client.invalidateQueries({ queryKey: KEYS.webhooks });
  const toggle = useMutation({
    mutationFn: () =>
      request(WebhookView, `${base}/${hook.enabled ? "disable" : "enable"}`, { method: "POST", body: {} }),
    onSettled: refresh,
  });
  const test = useMutation({
    mutationFn: () => request(DeliveryView, `${base}/test`, { method: "POST", body: {} }),
    onSettled: refresh,
  });
  const remove = useMutation({
    mutationFn: () => send(base, { method: "DELETE" }),
    onSuccess: () => setRemoving(false),
    onSettled: refresh,
  });
  const error = toggle.error ?? test.error;
  return (
    <>
      <Button className="button" aria-label={`Test ${hook.name}`} onPress={() => test.mutate()}>
        Test
      </Button>
      <Button
        className="button"
        aria-label={`${hook.enabled ? "Disable" : "Enable"} ${hook.name}`}
        onPress={() => toggle.mutate()}
      >
        {hook.enabled ? "Disable" : "Enable"}
      </Button>
      <Button
        className="button"
        data-kind="danger"
        aria-label={`Remove ${hook.name}`}
        onPress={() => setRemoving(true)}
      >
        Remove
      </Button>
      <output className="visually-hidden">
        {test.isSuccess ? `A test is on its way to ${hook.name}` : ""}
      </output>
      {error === null ? null : <ErrorPanel error={error} title="Not done" />}
      <Dialog title={`Remove ${hook.name}?`} isOpen={isRemoving} onClose={() => setRemoving(false)} isAlert>
        <div className="dialog-form">
          <p>Its secret and the log of its deliveries go with it. This cannot be undone.</p>
          {remove.error === null ? null : <ErrorPanel error={remove.error} title="Not done" />}
          <div className="dialog-buttons">
            <Button className="button" onPress={() => setRemoving(false)}>
              Keep webhook
            </Button>
            <Button className="button" data-kind="danger" onPress={() => remove.mutate()}>
              Remove webhook
            </Button>
          </div>
        </div>
      </Dialog>
    </>
  );
}
