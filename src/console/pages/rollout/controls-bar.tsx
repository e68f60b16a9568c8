/** The controls, always in their places; each asks for a reason before it acts. */
import { useState } from "react";
import { Button } from "react-aria-components/Button";
import { Group } from "react-aria-components/Group";
import type { RolloutView } from "../../../core/protocol/operator-api.ts";
import { ReasonDialog } from "../../ui/reason-dialog.tsx";
import { controlsFor, questionFor, type BarSignal } from "./controls.ts";
import { useSignal } from "./use-signal.ts";

const KINDS: Record<BarSignal, string> = {
  start: "primary",
  pause: "plain",
  resume: "primary",
  retry: "plain",
  give_up: "plain",
  force: "plain",
  rollback: "danger",
  cancel: "danger",
};

export function Controls({ rollout }: { readonly rollout: RolloutView }) {
  const [asking, setAsking] = useState<BarSignal | null>(null);
  const send = useSignal(rollout.id);
  return (
    <Group className="controls" aria-label="Rollout controls">
      {controlsFor(rollout).map(({ signal, label, isEnabled }) => (
        <Button
          key={signal}
          className="button"
          data-kind={KINDS[signal]}
          isDisabled={!isEnabled}
          onPress={() => setAsking(signal)}
        >
          {label}
        </Button>
      ))}
      <ReasonDialog
        question={asking === null ? null : questionFor(asking, rollout)}
        onClose={() => setAsking(null)}
        onConfirm={(reason, key) => send(asking!, reason, key)}
      />
    </Group>
  );
}
