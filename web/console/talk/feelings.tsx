import { useEffect, useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import { Select } from "../parts/field";
import { axisIn, colours, coloursAtNight, useNight, usePlots } from "../parts/chart_style";
import type { Felt } from "./conversation";
import { strongest } from "./transcript";

// How many feelings are drawn: nobody can tell more lines apart.
const lines = 5;
const heightPX = 220;
// Lines differ by dash pattern as well as by colour.
const dashes = [[], [8, 4], [2, 3], [12, 3, 2, 3], [5, 5]];

// Feelings charts the feelings of one side over the conversation: those that were strongest in any utterance.
export function Feelings({ felt }: { felt: Felt[] }) {
  const [who, setWho] = useState<"you" | "box">("you");
  const of = felt.filter((f) => f.who === who);
  return (
    <>
      <Select
        label="Whose"
        value={who}
        set={(w) => setWho(w as "you" | "box")}
        options={[
          ["you", "Yours"],
          ["box", "The assistant's"],
        ]}
      />
      {of.length === 0 ? (
        <p class="faint">No measurements yet. Feelings are measured in speech.</p>
      ) : (
        <>
          <Chart felt={of} />
          <Told felt={of} />
        </>
      )}
    </>
  );
}

// drawn chooses the feelings to draw: those with the highest peaks.
function drawn(felt: Felt[]): string[] {
  const most = new Map<string, number>();
  for (const f of felt)
    for (const [name, score] of strongest(f.scores, lines)) most.set(name, Math.max(most.get(name) ?? 0, score));
  return [...most]
    .sort((a, b) => b[1] - a[1])
    .slice(0, lines)
    .map(([name]) => name);
}

function Chart({ felt }: { felt: Felt[] }) {
  const at = useRef<HTMLDivElement>(null);
  const names = drawn(felt),
    night = useNight(),
    Plot = usePlots();
  useEffect(() => {
    if (!Plot) return;
    const frame = at.current!,
      axis = axisIn(frame);
    const plot = new Plot(
      {
        width: frame.clientWidth,
        height: heightPX,
        scales: { x: { time: false }, y: { range: (_, __, max) => [0, Math.max(0.2, Math.min(1, max * 1.1))] } },
        axes: [
          { ...axis, values: (_, all) => all.map((s) => `${s} s`) },
          { ...axis, size: 44 },
        ],
        series: [
          { label: "Second", value: (_, s) => (s === null ? "–" : s.toFixed(1)) },
          ...names.map((name, i) => ({
            label: name,
            stroke: (night ? coloursAtNight : colours)[i],
            dash: dashes[i],
            width: 2,
            points: { show: true, size: 6 },
            value: (_: uPlot, v: number | null) => (v === null ? "–" : v.toFixed(2)),
          })),
        ],
      },
      [felt.map((f) => f.at), ...names.map((name) => felt.map((f) => f.scores[name as keyof typeof f.scores]))],
      frame,
    );
    const fits = new ResizeObserver(() => plot.setSize({ width: frame.clientWidth, height: heightPX }));
    fits.observe(frame);
    return () => {
      fits.disconnect();
      plot.destroy();
    };
  }, [Plot, felt.length, names.join(), night]);
  return (
    <div
      ref={at}
      class="chart"
      role="img"
      aria-label={`Chart of ${names.join(", ")} over time. The table below says the same.`}
    />
  );
}

// Told is the chart as a table, for screen readers and exact figures.
function Told({ felt }: { felt: Felt[] }) {
  return (
    <details>
      <summary>As a table</summary>
      <table>
        <caption class="unseen">Strongest feelings of each utterance</caption>
        <thead>
          <tr>
            <th scope="col">Second</th>
            <th scope="col">Said</th>
            <th scope="col">Strongest</th>
          </tr>
        </thead>
        <tbody>
          {felt.map((f) => (
            <tr key={f.at}>
              <td data-head="Second">{f.at.toFixed(1)}</td>
              <td data-head="Said">{f.text}</td>
              <td data-head="Strongest">
                {strongest(f.scores, 3)
                  .map(([n, s]) => `${n} ${s.toFixed(2)}`)
                  .join(", ")}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
