import { diffLines } from "diff";
import { useMemo } from "preact/hooks";

// contextLines is how many unchanged lines are shown around a difference.
const contextLines = 3;

interface Line {
  mark: " " | "+" | "-";
  text: string;
}

// linesOf compares two texts line by line and marks each line as added, removed or unchanged.
export function linesOf(before: string, after: string): Line[] {
  return diffLines(ended(before), ended(after)).flatMap(({ value, added, removed }) =>
    value
      .replace(/\n$/, "")
      .split("\n")
      .map((text): Line => ({ mark: added ? "+" : removed ? "-" : " ", text })),
  );
}

const ended = (text: string) => (text === "" || text.endsWith("\n") ? text : text + "\n");

// folded replaces unchanged lines far from any difference with their number.
export function folded(lines: Line[]): (Line | number)[] {
  const near = (i: number) =>
    lines.slice(Math.max(0, i - contextLines), i + contextLines + 1).some((l) => l.mark !== " ");
  const out: (Line | number)[] = [];
  lines.forEach((line, i) => {
    const newest = out.at(-1);
    if (near(i)) out.push(line);
    else if (typeof newest === "number") out[out.length - 1] = newest + 1;
    else out.push(1);
  });
  return out;
}

// Difference shows the difference of two texts, line by line.
export function Difference({ before, after }: { before: string; after: string }) {
  const lines = useMemo(() => folded(linesOf(before, after)), [before, after]);
  if (before === after) return <p class="quiet">No differences.</p>;
  return (
    <div class="difference" role="region" aria-label="Differences" tabIndex={0}>
      {lines.map((l, i) =>
        typeof l === "number" ? (
          <p key={i} class="gap">
            {l === 1 ? "1 line" : `${l} lines`} alike
          </p>
        ) : (
          <p key={i} class={l.mark === "+" ? "added" : l.mark === "-" ? "removed" : undefined}>
            <span aria-hidden="true">{l.mark}</span>
            {l.mark !== " " && <span class="unseen">{l.mark === "+" ? "Added: " : "Removed: "}</span>}
            {l.text || " "}
          </p>
        ),
      )}
    </div>
  );
}
