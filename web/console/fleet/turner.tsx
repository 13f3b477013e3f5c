import { useEffect, useState } from "preact/hooks";

// rowsShown is how many rows of a long list are in the page: three hundred that change every few seconds would make a
// small machine slow.
const rowsShown = 50;

export interface Turned<T> {
  rows: T[];
  page: number;
  pages: number;
  go: (page: number) => void;
}

// useTurner cuts a list that is loaded whole into pages. It goes back to the first when one of the reasons changes.
export function useTurner<T>(all: T[], reasons: unknown[]): Turned<T> {
  const [asked, go] = useState(0);
  useEffect(() => go(0), reasons);
  const pages = Math.ceil(all.length / rowsShown),
    page = Math.max(0, Math.min(asked, pages - 1));
  return { rows: all.slice(page * rowsShown, (page + 1) * rowsShown), page, pages, go };
}

// Turner moves between the pages. It shows nothing for a single page.
export function Turner<T>({ of }: { of: Turned<T> }) {
  if (of.pages <= 1) return null;
  return (
    <nav class="pager" aria-label="Pages of the list">
      <button type="button" disabled={of.page === 0} onClick={() => of.go(of.page - 1)}>
        Back
      </button>
      <span>
        Page {of.page + 1} of {of.pages}
      </span>
      <button type="button" disabled={of.page + 1 >= of.pages} onClick={() => of.go(of.page + 1)}>
        Next
      </button>
    </nav>
  );
}
