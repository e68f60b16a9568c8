import { Icon } from "./icon.tsx";

export function Versions({ from, to }: { readonly from: string; readonly to: string }) {
  return (
    <span className="versions">
      <span>{from}</span>
      <Icon name="arrow" />
      <span className="visually-hidden">to</span>
      <span>{to}</span>
    </span>
  );
}
