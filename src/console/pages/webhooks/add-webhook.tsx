/** Adds a webhook and shows its secret, once: it is in this dialog and, after it closes, nowhere in the page. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { Button } from "react-aria-components/Button";
import { Input } from "react-aria-components/Input";
import { Label } from "react-aria-components/Label";
import { TextField } from "react-aria-components/TextField";
import type { z } from "zod";
import { NOTIFICATIONS, WebhookCreated, type Notification } from "../../../core/protocol/incident-api.ts";
import { request } from "../../api/http.ts";
import { KEYS } from "../../api/queries.ts";
import { Copyable } from "../../ui/copyable.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";

export function AddWebhook() {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button className="button add-webhook" data-kind="primary" onPress={() => setOpen(true)}>
        Add webhook
      </Button>
      <Dialog title="Add a webhook" isOpen={isOpen} onClose={() => setOpen(false)} isAlert>
        {isOpen ? <AddForm onClose={() => setOpen(false)} /> : null}
      </Dialog>
    </>
  );
}

function AddForm({ onClose }: { readonly onClose: () => void }) {
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [url, setUrl] = useState("https://");
  const [events, setEvents] = useState<ReadonlySet<Notification>>(new Set(NOTIFICATIONS));
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: () =>
      request(WebhookCreated, "/webhooks", { method: "POST", body: { name, url, events: [...events] } }),
    onSuccess: () => client.invalidateQueries({ queryKey: KEYS.webhooks }),
    // The answer holds a secret: it leaves the cache with the dialog.
    gcTime: 0,
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    if (!isPending) mutate();
  }

  if (data !== undefined) return <Secret created={data} onClose={onClose} />;
  return (
    <form className="dialog-form" onSubmit={submit}>
      {/* oxlint-disable-next-line jsx-a11y/no-autofocus -- a dialog takes the focus, and this is where one starts */}
      <TextField value={name} onChange={setName} isRequired autoFocus autoComplete="off">
        <Label>Name</Label>
        <Input />
      </TextField>
      <TextField value={url} onChange={setUrl} isRequired type="url" autoComplete="off">
        <Label>Address</Label>
        <Input />
      </TextField>
      <fieldset className="event-choices">
        <legend>Told of</legend>
        {NOTIFICATIONS.map((event) => (
          <label key={event}>
            <input
              type="checkbox"
              checked={events.has(event)}
              onChange={() => setEvents(events.symmetricDifference(new Set([event])))}
            />
            {event.replaceAll("_", " ")}
          </label>
        ))}
      </fieldset>
      {error === null ? null : <ErrorPanel error={error} title="Not added" />}
      <div className="dialog-buttons">
        <Button className="button" onPress={onClose}>
          Back
        </Button>
        <Button className="button" type="submit" data-kind="primary">
          Add webhook
        </Button>
      </div>
    </form>
  );
}

interface SecretProps {
  readonly created: z.infer<typeof WebhookCreated>;
  readonly onClose: () => void;
}

function Secret({ created: { webhook, secret }, onClose }: SecretProps) {
  return (
    <div className="dialog-form">
      <p>
        {webhook.name} is added. This is its signing secret. It is shown once: keep it where the receiver
        finds it.
      </p>
      <p className="webhook-secret">
        <Copyable value={secret} short={secret} name="signing secret" />
      </p>
      <div className="dialog-buttons">
        {/* oxlint-disable-next-line jsx-a11y/no-autofocus -- the form that held the focus is gone */}
        <Button className="button" data-kind="primary" onPress={onClose} autoFocus>
          I have kept it
        </Button>
      </div>
    </div>
  );
}
