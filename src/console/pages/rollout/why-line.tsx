import type { RolloutView } from "../../../core/protocol/operator-api.ts";
import { useNow } from "../../ui/use-now.ts";
import { whyText } from "./why.ts";

export function WhyLine({ rollout }: { readonly rollout: RolloutView }) {
  const { tone, code, text, next } = whyText(rollout, useNow());
  return (
    <p className="why-line" data-tone={tone}>
      <span className="why-text numbers">{text}</span>
      {code === null ? null : <code>{code}</code>}
      {next === null ? null : <span className="why-next">{next}</span>}
    </p>
  );
}
