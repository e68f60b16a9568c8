/** The four controls, always in their places; each asks for a reason before it acts. */
import { useState } from "react";
import { Button } from "react-aria-components/Button";
import { Group } from "react-aria-components/Group";
import type { RolloutView } from "../../../core/protocol/operator-api.ts";
import type { SignalKind } from "../../../core/rollout/states.ts";
import { controlsFor } from "./controls.ts";
import { SignalDialog } from "./signal-dialog.tsx";

export function Controls({ rollout }: { readonly rollout: RolloutView }) {
  const [asking, setAsking] = useState<SignalKind | null>(null);
  return (
    <Group className="controls" aria-label="Rollout controls">
      {controlsFor(rollout).map(({ signal, label, isEnabled }) => (
        <Button
          key={signal}
          className="button"
          data-kind={signal === "cancel" ? "danger" : signal === "pause" ? "plain" : "primary"}
          isDisabled={!isEnabled}
          onPress={() => setAsking(signal)}
        >
          {label}
        </Button>
      ))}
      <SignalDialog rolloutId={rollout.id} signal={asking} onClose={() => setAsking(null)} />
    </Group>
  );
}
