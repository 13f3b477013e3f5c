// Time shows Unix milliseconds as a relative time, with the full date in its title.
export function Time({ ms }: { ms: number }) {
  const at = new Date(ms);
  return (
    <time dateTime={at.toISOString()} title={at.toLocaleString()}>
      {when(at)}
    </time>
  );
}

// Clock shows Unix milliseconds with date and hour.
export function Clock({ ms }: { ms: number }) {
  const at = new Date(ms),
    year = at.getFullYear() === new Date().getFullYear() ? undefined : "numeric";
  return (
    <time dateTime={at.toISOString()} title={at.toLocaleString()}>
      {at.toLocaleString(undefined, { year, month: "short", day: "numeric", hour: "numeric", minute: "2-digit" })}
    </time>
  );
}

const steps: [Intl.RelativeTimeFormatUnit, number][] = [
  ["minute", 60],
  ["hour", 3600],
  ["day", 86_400],
];

// when formats a moment within a week as a relative time, and any other as a date.
export function when(at: Date, now = new Date()): string {
  const seconds = (at.getTime() - now.getTime()) / 1000;
  const far = Math.abs(seconds);
  if (far < 45) return seconds > 0 ? "in a moment" : "just now";
  if (far > 7 * 86_400) return at.toLocaleDateString(undefined, { dateStyle: "medium" });
  const [unit, size] = steps.filter(([, s]) => far >= s).at(-1) ?? steps[0]!;
  return new Intl.RelativeTimeFormat(undefined, { numeric: "auto" }).format(Math.round(seconds / size), unit);
}
