import { useState } from "preact/hooks";
import { type Series, isPicture, said } from "./scores";

const rows = 50;

// placeOf says where a unit is: a face of a picture, a time, or a place in a text.
export function placeOf(s: Series, i: number): string {
  const u = s.units[i]!;
  if (isPicture(s)) return `Face ${i + 1}`;
  if (u.time) {
    const [begin, end] = [u.time.begin, u.time.end].map((t) => t.toFixed(1));
    return begin === end ? `${begin} s` : `${begin}–${end} s`;
  }
  return u.position ? `Character ${u.position.begin + 1}` : `Number ${i + 1}`;
}

// UnitTable lists all predictions with their highest scores, a page at a time. It says what the drawings show, for
// screen readers and exact figures.
export function UnitTable({ s, pick }: { s: Series; pick: (i: number) => void }) {
  const [page, setPage] = useState(0);
  const pages = Math.ceil(s.units.length / rows);
  const first = page * rows;
  return (
    <details>
      <summary>One by one ({s.units.length})</summary>
      <table>
        <caption class="unseen">Highest scores, one by one</caption>
        <thead>
          <tr>
            <th scope="col">Where</th>
            <th scope="col">Text</th>
            <th scope="col">Highest</th>
          </tr>
        </thead>
        <tbody>
          {s.units.slice(first, first + rows).map((u, i) => (
            <tr key={first + i}>
              <td data-head="Where">
                <button type="button" class="link" onClick={() => pick(first + i)}>
                  {placeOf(s, first + i)}
                </button>
              </td>
              <td data-head="Text">{u.text}</td>
              <td data-head="Highest">{said(s.names, u.scores)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <PageTurner what="rows" page={page} pages={pages} go={setPage} />
    </details>
  );
}

// PageTurner moves between the pages of a long result.
export function PageTurner({
  what,
  page,
  pages,
  go,
}: {
  what: string;
  page: number;
  pages: number;
  go: (page: number) => void;
}) {
  if (pages <= 1) return null;
  return (
    <nav class="pager" aria-label={`Pages of the ${what}`}>
      <button type="button" disabled={page === 0} onClick={() => go(page - 1)}>
        Earlier
      </button>
      <span>
        Page {page + 1} of {pages}
      </span>
      <button type="button" disabled={page + 1 >= pages} onClick={() => go(page + 1)}>
        Later
      </button>
    </nav>
  );
}
