const units = ["B", "kB", "MB", "GB", "TB"];

// bytes formats a size in decimal units: 1.2 GB.
export function bytes(n: number): string {
  let unit = 0;
  for (; n >= 1000 && unit < units.length - 1; unit++) n /= 1000;
  return `${n >= 100 || unit === 0 ? Math.round(n) : n.toFixed(1)} ${units[unit]}`;
}

// milliseconds formats a short time: 340 ms, 1.2 s.
export function milliseconds(ms: number): string {
  if (ms < 1) return `${ms.toFixed(2)} ms`;
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

const spans: [string, number][] = [
  ["d", 86_400],
  ["h", 3600],
  ["min", 60],
];

// span formats a long time: 3 d 4 h.
export function span(ms: number): string {
  let left = Math.floor(ms / 1000);
  const said: string[] = [];
  for (const [unit, size] of spans) {
    if (left >= size && said.length < 2) said.push(`${Math.floor(left / size)} ${unit}`);
    left %= size;
  }
  return said.length > 0 ? said.join(" ") : "less than a minute";
}

export const percent = (share: number) => `${Math.round(share * 100)} %`;
