import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { Button } from "react-aria-components/Button";
import { Label } from "react-aria-components/Label";
import { TextArea } from "react-aria-components/TextArea";
import { TextField } from "react-aria-components/TextField";
import { LIMITS } from "../../../core/limits.ts";
import { RolloutView } from "../../../core/protocol/operator-api.ts";
import type { SignalKind } from "../../../core/rollout/states.ts";
import { request } from "../../api/http.ts";
import { KEYS, rolloutQuery } from "../../api/queries.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { WORDING } from "./controls.ts";

interface Props {
  readonly rolloutId: string;
  readonly signal: SignalKind | null;
  readonly onClose: () => void;
}

export function SignalDialog({ rolloutId, signal, onClose }: Props) {
  return (
    <Dialog
      title={signal === null ? "" : WORDING[signal].title}
      isOpen={signal !== null}
      onClose={onClose}
      isAlert={signal === "cancel"}
    >
      {signal === null ? null : <SignalForm rolloutId={rolloutId} signal={signal} onClose={onClose} />}
    </Dialog>
  );
}

function SignalForm({ rolloutId, signal, onClose }: Props & { readonly signal: SignalKind }) {
  const client = useQueryClient();
  const [reason, setReason] = useState("");
  const { effect, confirm } = WORDING[signal];
  const { mutate, error, isPending } = useMutation({
    mutationFn: () => {
      const text = reason.trim();
      const path = `/rollouts/${encodeURIComponent(rolloutId)}/${signal}`;
      return request(RolloutView, path, { method: "POST", body: text === "" ? {} : { reason: text } });
    },
    onSuccess: (rollout) => {
      client.setQueryData(rolloutQuery(rolloutId).queryKey, rollout);
      onClose();
    },
    // Somebody else may have been quicker: the page then shows where the rollout is now.
    onError: () => client.invalidateQueries({ queryKey: KEYS.rollout(rolloutId) }),
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    // A button that is disabled loses the focus, and Escape with it: a second press is dropped instead.
    if (!isPending) mutate();
  }

  return (
    <form onSubmit={submit} className="dialog-form">
      <p>{effect}</p>
      {/* oxlint-disable-next-line jsx-a11y/no-autofocus -- a dialog takes the focus, and this is where one starts */}
      <TextField value={reason} onChange={setReason} maxLength={LIMITS.reasonCharsMax} autoFocus>
        <Label>Reason (optional, kept in the timeline)</Label>
        <TextArea rows={3} />
      </TextField>
      {error === null ? null : <ErrorPanel error={error} title="Not done" />}
      <div className="dialog-buttons">
        <Button className="button" onPress={onClose}>
          {signal === "cancel" ? "Keep rollout" : "Back"}
        </Button>
        <Button className="button" type="submit" data-kind={signal === "cancel" ? "danger" : "primary"}>
          {confirm}
        </Button>
      </div>
    </form>
  );
}
