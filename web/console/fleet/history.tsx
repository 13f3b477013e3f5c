import { useMemo, useState } from "preact/hooks";
import type { FleetState, ReturnFleetHealth } from "../../rest";
import { get } from "../api";
import { useLoad } from "../load";
import { Chart, type Line } from "../parts/chart";
import { Select } from "../parts/field";
import { Failure, Loading } from "../parts/notice";
import { useEvery } from "./every";

const hour = 3_600_000;
const spans = [
  [String(hour), "Last hour"],
  [String(24 * hour), "Last day"],
  [String(7 * 24 * hour), "Last week"],
  [String(90 * 24 * hour), "Last 90 days"],
] as const;

// mostPoints is how many states a chart draws: about one for each pixel of its width.
const mostPoints = 1000;
// A box stores its health once a minute.
const refreshSeconds = 60;

// History draws how a box was over time.
export function History({ path }: { path: string }) {
  const [back, setBack] = useState<string>(String(24 * hour));
  const all = useLoad(
    (signal) =>
      get<ReturnFleetHealth>(`${path}/health`, { since: Date.now() - Number(back), limit: mostPoints }, signal),
    [path, back],
  );
  useEvery(all, refreshSeconds);
  const states = all.value?.states;
  return (
    <section>
      <div class="head">
        <h2>Health over time</h2>
        <Select label="Time" hideLabel value={back} set={setBack} options={spans} />
      </div>
      {!states && all.error && <Failure error={all.error} again={all.reload} />}
      {!states && all.loading && <Loading />}
      {states && states.length < 2 && <p class="quiet">The hub has nothing of this time yet.</p>}
      {states && states.length > 1 && <Charts states={states} />}
    </section>
  );
}

type Drawn = { name: string; of: (s: FleetState) => number | undefined };

// charts are the charts, each with one or two lines.
const charts: { title: string; unit: string; least: number; lines: Drawn[] }[] = [
  {
    title: "Callers",
    unit: "",
    least: 2,
    lines: [
      { name: "Callers", of: (s) => s.live },
      { name: "Seats", of: (s) => s.seats },
    ],
  },
  {
    title: "Answers after the silence, 95th percentile",
    unit: "ms",
    least: 500,
    lines: [{ name: "Answers", of: (s) => (s.added_ms > 0 ? s.added_ms : undefined) }],
  },
  {
    title: "Temperature",
    unit: "°C",
    least: 60,
    lines: [
      { name: "Cores", of: (s) => s.core_celsius },
      { name: "Disk", of: (s) => s.disk_celsius },
    ],
  },
  {
    title: "Load",
    unit: "",
    least: 1,
    lines: [
      { name: "Load", of: (s) => s.load },
      { name: "Cores", of: (s) => s.cores },
    ],
  },
  {
    title: "Free",
    unit: "GB",
    least: 1,
    lines: [
      { name: "Disk", of: (s) => s.disk_free / 1e9 },
      { name: "Memory", of: (s) => s.memory_free / 1e9 },
    ],
  },
];

function Charts({ states }: { states: FleetState[] }) {
  const drawn = useMemo(() => withGaps(states), [states]);
  const seconds = useMemo(() => drawn.map((d) => d.at / 1000), [drawn]);
  return (
    <div class="columns">
      {charts.map((c) => {
        const lines = c.lines
          .map((l): Line => ({ name: l.name, values: drawn.map((d) => (d.state && l.of(d.state)) ?? null) }))
          .filter((l) => l.values.some((v) => v !== null));
        if (lines.length === 0) return null; // the box does not tell
        return (
          <section key={c.title} class="card">
            <h3>{c.title}</h3>
            <Chart
              says={`${c.title}: ${says(lines, c.unit)}.`}
              seconds={seconds}
              lines={lines}
              unit={c.unit}
              least={c.least}
            />
          </section>
        );
      })}
    </div>
  );
}

// says describes lines for screen readers.
function says(lines: Line[], unit: string): string {
  return lines
    .map((l) => {
      const known = l.values.filter((v) => v !== null);
      const words = (v: number) => `${Math.round(v * 10) / 10} ${unit}`.trim();
      return `${l.name} from ${words(Math.min(...known))} to ${words(Math.max(...known))}, now ${words(known.at(-1)!)}`;
    })
    .join("; ");
}

// withGaps adds a point without a state where the box told nothing for much longer than usual, so that no line is
// drawn over that time.
function withGaps(states: FleetState[]): { at: number; state?: FleetState }[] {
  const steps = states.slice(1).map((s, i) => s.on - states[i]!.on);
  const usual = [...steps].sort((a, b) => a - b)[Math.floor(steps.length / 2)] ?? 0;
  const drawn: { at: number; state?: FleetState }[] = [];
  for (const [i, s] of states.entries()) {
    const step = steps[i - 1] ?? 0;
    if (step < 0) continue; // the clock of the box was set back
    if (step > 3 * usual) drawn.push({ at: s.on - step / 2 });
    drawn.push({ at: s.on, state: s });
  }
  return drawn;
}
