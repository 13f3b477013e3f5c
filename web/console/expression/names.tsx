import { useState } from "preact/hooks";
import { Select } from "../parts/field";
import type { Series, Summary } from "./scores";

// How many names are shown until the user asks for all.
const few = 10;

type Order = "mean" | "highest" | "now" | "name";

// Names is the table of all names with their scores. With toggle, the names that are drawn can be chosen in it.
export function Names({
  s,
  summary,
  now,
  drawn,
  toggle,
}: {
  s: Series;
  summary: Summary;
  now?: Float32Array;
  drawn: number[];
  toggle?: (i: number) => void;
}) {
  const [order, setOrder] = useState<Order>("mean");
  const [all, setAll] = useState(false);
  const by = order === "highest" ? summary.highest : order === "now" && now ? now : summary.mean;
  const sorted = Array.from(s.names.keys()).sort((a, b) => (order === "name" ? a - b : by[b]! - by[a]!));
  const several = s.units.length > 1;
  return (
    <section aria-label="Names">
      <div class="head">
        <h2>Names</h2>
        <Select
          label="Sorted by"
          value={order}
          set={(o) => setOrder(o as Order)}
          options={[
            ["mean", several ? "Mean" : "Score"],
            ...(several ? ([["highest", "Highest"]] as const) : []),
            ...(now && several ? ([["now", "Selected"]] as const) : []),
            ["name", "Name"],
          ]}
        />
      </div>
      <table class="names">
        <caption class="unseen">Scores of the names</caption>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col" class="number">
              {several ? "Mean" : "Score"}
            </th>
            {several && (
              <th scope="col" class="number">
                Highest
              </th>
            )}
            {now && several && (
              <th scope="col" class="number">
                Selected
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {(all ? sorted : sorted.slice(0, few)).map((i) => (
            <tr key={i}>
              <td data-head="Name">
                {toggle ? (
                  <label>
                    <input type="checkbox" checked={drawn.includes(i)} onChange={() => toggle(i)} /> {s.names[i]}
                  </label>
                ) : (
                  s.names[i]
                )}
              </td>
              <td data-head={several ? "Mean" : "Score"} class="number">
                <Score of={summary.mean[i]!} />
              </td>
              {several && (
                <td data-head="Highest" class="number">
                  {summary.highest[i]!.toFixed(2)}
                </td>
              )}
              {now && several && (
                <td data-head="Selected" class="number">
                  {now[i]!.toFixed(2)}
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
      <div class="buttons">
        <button type="button" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? `Show the first ${few}` : `Show all ${s.names.length}`}
        </button>
      </div>
    </section>
  );
}

function Score({ of }: { of: number }) {
  return (
    <>
      <span class="bar-of" aria-hidden="true">
        <span style={{ width: `${Math.round(of * 100)}%` }} />
      </span>
      {of.toFixed(2)}
    </>
  );
}
