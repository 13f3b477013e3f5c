import type { ComponentChildren } from "preact";
import type { List } from "../load";

export interface Column<T> {
  head: string;
  cell: (row: T) => ComponentChildren;
  number?: boolean;
}

// Table is a list of records. caption names it for screen readers. On a narrow screen each row becomes a card.
export function Table<T>({
  caption,
  columns,
  rows,
  id,
}: {
  caption: string;
  columns: Column<T>[];
  rows: T[];
  id: (row: T) => string;
}) {
  return (
    <table>
      <caption class="unseen">{caption}</caption>
      <thead>
        <tr>
          {columns.map((c) => (
            <th key={c.head} scope="col" class={c.number ? "number" : undefined}>
              {c.head || <span class="unseen">Actions</span>}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={id(row)}>
            {columns.map((c) => (
              <td key={c.head} data-head={c.head} class={c.number ? "number" : undefined}>
                {framed(c.cell(row))}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

// framed wraps the content of a cell in one element: on a narrow screen a cell is a row of its heading and that
// element.
const framed = (cell: ComponentChildren) =>
  cell === null || cell === undefined || cell === "" ? null : <div>{cell}</div>;

// Pager moves between the pages of a list. It shows nothing for a single page.
export function Pager<T>({ list }: { list: List<T> }) {
  if (list.pages <= 1) return null;
  return (
    <nav class="pager" aria-label="Pages of the list">
      <button type="button" disabled={list.page === 0} onClick={() => list.go(list.page - 1)}>
        Newer
      </button>
      <span>
        Page {list.page + 1} of {list.pages}
      </span>
      <button type="button" disabled={list.page + 1 >= list.pages} onClick={() => list.go(list.page + 1)}>
        Older
      </button>
    </nav>
  );
}
