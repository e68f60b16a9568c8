/** One order for every list, the same as the database's order of uuids. */
export const sorted = <T extends string>(values: readonly T[]): T[] => values.toSorted(compare);

export const sortedById = <T extends { readonly id: string }>(rows: readonly T[]): T[] =>
  rows.toSorted((a, b) => compare(a.id, b.id));

export const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
