import { useEffect, useState } from "preact/hooks";
import type { AnswerItem, AnswersConflict, ReturnAnswersCheck } from "../../rest";
import { post } from "../api";
import { ToRow } from "./try";
import { usable } from "./rows";

const path = "/v0/box/answers/check";

// againMS is how long the box gets to compare the rest of many answers, and mostAgain how often it is asked again.
const againMS = 20_000,
  mostAgain = 10;

// restMS is how long nobody types before the box looks for conflicts.
const restMS = 2000;

// mostShown is how many conflicts are listed.
const mostShown = 10;

// useConflicts asks the box for answers that are asked for in the same way, when the table has not changed for a while.
export function useConflicts(rows: unknown, items: () => AnswerItem[]): AnswersConflict[] {
  const [found, setFound] = useState<AnswersConflict[]>([]);
  useEffect(() => {
    const stop = new AbortController();
    const look = (left: number) => {
      const sent = usable(items());
      if (sent.length < 2) return setFound([]);
      post<ReturnAnswersCheck>(path, { answers: { items: sent } }, stop.signal).then(
        ({ conflicts, complete }) => {
          setFound(conflicts);
          if (!complete && left > 0) timer = window.setTimeout(look, againMS, left - 1);
        },
        () => {}, // a table that the box refuses is refused when it is saved, too
      );
    };
    let timer = window.setTimeout(look, restMS, mostAgain);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [rows]);
  return found;
}

// Conflicts lists pairs of answers that the box may confuse.
export function Conflicts({ found, show }: { found: AnswersConflict[]; show: (id: string) => void }) {
  return (
    <div role="status">
      {found.length > 0 && (
        <section class="notice conflicts" aria-labelledby="conflicts">
          <h2 id="conflicts">Asked for in the same way</h2>
          <p>The box cannot tell these answers apart. Take one way away, or word it differently.</p>
          <ul>
            {found.slice(0, mostShown).map(({ items }) => (
              <li key={items.map((one) => `${one.answer_id} ${one.ask}`).join()}>
                {items.map((one, i) => (
                  <>
                    {i > 0 && " and "}“{one.ask}” of <ToRow id={one.answer_id} show={show} />
                  </>
                ))}
              </li>
            ))}
          </ul>
          {found.length > mostShown && <p>There are {found.length - mostShown} more.</p>}
        </section>
      )}
    </div>
  );
}
