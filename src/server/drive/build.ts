/** Which of two builds is newer: by semantic version, where a pre-release comes before its release. */
const VERSION = /^(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?(?:\+.*)?$/;

/** Positive: the left one is newer. Text that is no version is older than every version. */
export function compareVersions(left: string, right: string): number {
  const [a, b] = [VERSION.exec(left), VERSION.exec(right)];
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  for (const part of [1, 2, 3]) {
    const order = Number(a[part]) - Number(b[part]);
    if (order !== 0) return order;
  }
  return comparePreReleases(a[4], b[4]);
}

function comparePreReleases(left: string | undefined, right: string | undefined): number {
  if (left === undefined || right === undefined)
    return Number(left === undefined) - Number(right === undefined);
  const [a, b] = [left.split("."), right.split(".")];
  for (let at = 0; at < Math.max(a.length, b.length); at += 1) {
    const order = compareIdentifiers(a[at], b[at]);
    if (order !== 0) return order;
  }
  return 0;
}

/** Numbers by value and before words; the shorter list first. */
function compareIdentifiers(left: string | undefined, right: string | undefined): number {
  if (left === undefined || right === undefined)
    return Number(left !== undefined) - Number(right !== undefined);
  const [a, b] = [/^\d+$/.test(left), /^\d+$/.test(right)];
  if (a && b) return Number(left) - Number(right);
  if (a !== b) return a ? -1 : 1;
  return left === right ? 0 : left < right ? -1 : 1;
}
