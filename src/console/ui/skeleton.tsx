import "./skeleton.css";

/** Holds the place of what is being read, in about its size, so that nothing jumps when it comes. */
export function Skeleton({ lines, name }: { readonly lines: number; readonly name: string }) {
  return (
    <output className="skeleton" aria-label={`Reading ${name}`}>
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} />
      ))}
    </output>
  );
}
