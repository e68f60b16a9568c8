/**
 * Asks before something is done, and why. The same key goes with every press of its button, so a second one is not a
 * second wish; an error stays in the dialog with what was typed.
 */
import { useMutation } from "@tanstack/react-query";
import { useState, type FormEvent, type ReactNode } from "react";
import { Button } from "react-aria-components/Button";
import { Input } from "react-aria-components/Input";
import { Label } from "react-aria-components/Label";
import { TextArea } from "react-aria-components/TextArea";
import { TextField } from "react-aria-components/TextField";
import { LIMITS } from "../../core/limits.ts";
import { wishKey } from "../api/wish-key.ts";
import { Dialog } from "./dialog.tsx";
import { ErrorPanel } from "./error-panel.tsx";

export interface Question {
  readonly title: string;
  readonly effect: string;
  readonly confirm: string;
  /** How one leaves without doing it. */
  readonly back?: string;
  readonly isDanger?: boolean;
  readonly reason: "optional" | "required";
  readonly reasonLabel?: string;
  /** A word that must be typed, for what cannot be taken back. */
  readonly typed?: string;
}

interface Props {
  readonly question: Question | null;
  readonly onClose: () => void;
  readonly onConfirm: (reason: string | undefined, key: string) => Promise<unknown>;
  readonly children?: ReactNode;
}

export function ReasonDialog({ question, onClose, onConfirm, children }: Props) {
  return (
    <Dialog
      title={question?.title ?? ""}
      isOpen={question !== null}
      onClose={onClose}
      isAlert={question?.isDanger === true}
    >
      {question === null ? null : (
        <ReasonForm question={question} onClose={onClose} onConfirm={onConfirm}>
          {children}
        </ReasonForm>
      )}
    </Dialog>
  );
}

function ReasonForm({
  question,
  onClose,
  onConfirm,
  children,
}: Omit<Props, "question"> & { readonly question: Question }) {
  const [reason, setReason] = useState("");
  const [word, setWord] = useState("");
  const [missing, setMissing] = useState<string | null>(null);
  const [key] = useState(wishKey);
  const { mutate, error, isPending } = useMutation({
    mutationFn: () => onConfirm(reason.trim() === "" ? undefined : reason.trim(), key),
    onSuccess: onClose,
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    const lacks = missingOf(question, reason, word);
    setMissing(lacks);
    // A button that is disabled loses the focus, and Escape with it: a second press is dropped instead.
    if (lacks === null && !isPending) mutate();
  }

  const { typed, reasonLabel = "Reason" } = question;
  return (
    <form onSubmit={submit} className="dialog-form">
      <p>{question.effect}</p>
      {children}
      <TextField
        value={reason}
        onChange={setReason}
        maxLength={LIMITS.reasonCharsMax}
        // oxlint-disable-next-line jsx-a11y/no-autofocus -- a dialog takes the focus, and this is where one starts
        autoFocus
      >
        <Label>
          {reasonLabel} ({question.reason}, kept in the timeline)
        </Label>
        <TextArea rows={3} />
      </TextField>
      {typed === undefined ? null : (
        <TextField value={word} onChange={setWord} autoComplete="off">
          <Label>
            Type <code>{typed}</code> to confirm
          </Label>
          <Input />
        </TextField>
      )}
      <p className="dialog-missing" role="alert">
        {missing}
      </p>
      {error === null ? null : <ErrorPanel error={error} title="Not done" />}
      <div className="dialog-buttons">
        <Button className="button" onPress={onClose}>
          {question.back ?? "Back"}
        </Button>
        <Button
          className="button"
          type="submit"
          data-kind={question.isDanger === true ? "danger" : "primary"}
        >
          {question.confirm}
        </Button>
      </div>
    </form>
  );
}

function missingOf({ reason: kind, typed, reasonLabel = "reason" }: Question, reason: string, word: string) {
  if (kind === "required" && reason.trim() === "") return `A ${reasonLabel.toLowerCase()} is required.`;
  if (typed !== undefined && word.trim() !== typed) return `Type ${typed} to confirm.`;
  return null;
}
