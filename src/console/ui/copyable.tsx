/** A long identifier, shortened to what tells it apart, whole in the clipboard. */
import { useEffect, useState } from "react";
import { Icon } from "./icon.tsx";
import "./copyable.css";

const DONE_MS = 1_500;

export const shortDigest = (digest: string): string => digest.replace(/^sha256:/, "").slice(0, 12);

export function Copyable({
  value,
  short,
  name,
}: {
  readonly value: string;
  readonly short: string;
  readonly name: string;
}) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), DONE_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);

  async function copy(): Promise<void> {
    await navigator.clipboard.writeText(value);
    setCopied(true);
  }

  // Over plain HTTP from another machine there is no clipboard: then the whole value can be selected.
  if (!window.isSecureContext) return <code className="copyable-whole">{value}</code>;
  return (
    <span className="copyable">
      <code title={value}>{short}</code>
      <button type="button" aria-label={`Copy ${name}`} onClick={() => void copy()}>
        <Icon name={isCopied ? "check" : "copy"} />
      </button>
      <output className="visually-hidden">{isCopied ? `${name} copied` : ""}</output>
    </span>
  );
}
