/** The note below an empty list. A filter that matches nothing does not make the site empty. */
export function emptyNote(
  what: string,
  filters: Readonly<Record<string, string | undefined>>,
  none: string,
): string {
  const given = Object.entries(filters).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name} ${value}`],
  );
  return given.length === 0
    ? none
    : `no ${what} matches ${given.join(" ")}: leave the filter out to see every ${what}`;
}
