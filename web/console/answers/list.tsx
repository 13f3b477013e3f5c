import { useMemo, useState } from "preact/hooks";
import { Field } from "../parts/field";
import { Empty } from "../parts/notice";
import { RowFields, type Acts } from "./row";
import { type Row, type RowFaults, matches } from "./rows";

// listed is how many answers are shown at first, and with each press of "Show more": five hundred with all their fields
// would make the browser slow.
const listed = 50;

// List is the table of answers, with a search.
export function List({
  rows,
  ids,
  faults,
  given,
  days,
  search,
  setSearch,
  sound,
  acts,
}: {
  rows: Row[];
  ids: Map<number, string>;
  faults: Map<number, RowFaults>;
  given?: Map<string, number>;
  days: string;
  search: string;
  setSearch: (text: string) => void;
  sound: { key: number; state: "waiting" | "playing" } | undefined;
  acts: Acts;
}) {
  const [most, setMost] = useState(listed);
  const wanted = search.trim();
  // A row that is found stays while its text is changed; a row that is new is there in any case.
  const hidden = useMemo(
    () => new Set(wanted ? rows.filter((r) => !matches({ ...r, id: ids.get(r.key)! }, wanted)).map((r) => r.key) : []),
    [wanted],
  );
  const found = rows.filter((r) => !hidden.has(r.key) || faults.has(r.key));
  const shown = found.filter((r, i) => i < most || faults.has(r.key));
  return (
    <>
      {(rows.length > 5 || wanted) && (
        <Field
          label="Search"
          type="search"
          value={search}
          set={(text) => {
            setSearch(text);
            setMost(listed);
          }}
          placeholder="Words of a question, an answer, or an id"
        />
      )}
      <p role="status" class="faint">
        {wanted ? `${found.length} of ${counted(rows.length)}` : counted(rows.length)}
      </p>
      {rows.length > 0 && found.length === 0 && (
        <Empty title="No answer found">
          <p>Search for other words.</p>
        </Empty>
      )}
      {shown.map((r) => (
        <RowFields
          key={r.key}
          row={r}
          id={ids.get(r.key)!}
          faults={faults.get(r.key)}
          given={given?.get(ids.get(r.key)!)}
          days={days}
          sound={sound?.key === r.key ? sound.state : ""}
          acts={acts}
        />
      ))}
      {shown.length < found.length && (
        <div class="buttons">
          <button type="button" onClick={() => setMost(most + listed)}>
            Show more
          </button>
          <span class="faint">
            {shown.length} of {found.length} are shown.
          </span>
        </div>
      )}
    </>
  );
}

const counted = (n: number) => (n === 1 ? "1 answer" : `${n} answers`);
