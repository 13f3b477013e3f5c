import { useMemo, useState } from "preact/hooks";
import { Select } from "../parts/field";
import type { Series } from "./scores";
import { PageTurner } from "./units";

const wordsPerPage = 500;
// The strongest colour, in percent of the accent: the text stays readable on it in light and dark mode.
const mostColour = 40;

// Words shows the scored texts in their order, coloured by the score of one name. whole is the text that they come
// from, if it is known; then it also shows what is between them.
export function Words({
  s,
  whole,
  name,
  highest,
  at,
  pick,
}: {
  s: Series;
  whole?: string;
  name: number;
  highest: Float32Array;
  at?: number;
  pick: (i: number) => void;
}) {
  const [chosen, setChosen] = useState<number>();
  const [page, setPage] = useState(0);
  const letters = useMemo(() => (whole === undefined ? undefined : Array.from(whole)), [whole]); // code points
  const shown = chosen ?? name;
  const first = page * wordsPerPage,
    pages = Math.ceil(s.units.length / wordsPerPage);
  const gap = (i: number) => {
    const [before, next] = [s.units[i - 1]?.position, s.units[i]!.position];
    if (!letters || !next) return i > first ? " " : "";
    return letters.slice(i > first && before ? before.end : i === 0 ? 0 : next.begin, next.begin).join("");
  };
  const last = Math.min(first + wordsPerPage, s.units.length);
  const tail = s.units[last - 1]?.position;
  return (
    <section aria-label="Words">
      <Select
        label="Coloured by"
        value={String(shown)}
        set={(n) => setChosen(Number(n))}
        options={s.names.map((n, i) => [String(i), n] as const)}
      />
      <p class="words card" dir="auto">
        {s.units.slice(first, last).map((u, n) => {
          const i = first + n,
            score = u.scores[shown] ?? 0;
          const share = Math.round((mostColour * score) / Math.max(highest[shown]!, 0.01));
          return (
            <span key={i}>
              {gap(i)}
              <span
                class={i === at ? "word at" : "word"}
                style={{ backgroundColor: `color-mix(in srgb, var(--accent) ${share}%, transparent)` }}
                title={`${s.names[shown]} ${score.toFixed(2)}`}
                onClick={() => pick(i)}
              >
                {u.text}
              </span>
            </span>
          );
        })}
        {letters && tail && last === s.units.length && letters.slice(tail.end).join("")}
      </p>
      <PageTurner what="text" page={page} pages={pages} go={setPage} />
    </section>
  );
}
