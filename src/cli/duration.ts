/** Spans of time, for people: `4s`, `2m 05s`, `3h 10m`, `12d`. */
export function durationText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [minutes, hours, days] = [60, 3600, 86_400].map((unit) => Math.floor(seconds / unit)) as [
    number,
    number,
    number,
  ];
  const two = (value: number): string => String(value).padStart(2, "0");
  if (minutes === 0) return `${seconds}s`;
  if (hours === 0) return `${minutes}m ${two(seconds % 60)}s`;
  if (days === 0) return `${hours}h ${two(minutes % 60)}m`;
  return `${days}d`;
}

export const ageOf = (instant: string, now: number): string => durationText(now - Date.parse(instant));
