import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type uPlot from "uplot";
import { axisIn, colours, coloursAtNight, useNight, usePlots } from "../parts/chart_style";
import type { Peaks } from "./player";
import { type Series, drawingOf, middle } from "./scores";

const heightPX = 240;
// Lines differ by dash pattern as well as by colour.
const dashes = [[], [8, 4], [2, 3], [12, 3, 2, 3], [5, 5]];
// A press that moves less than this selects a moment; a longer one selects a stretch to enlarge.
const clickPX = 4;
// With more points than the first number a chart shows lines only; with more units than the second, each point is a
// mean, since lines that are denser than the screen show nothing.
const mostDots = 120,
  mostPoints = 600;

// OverTime draws the scores of some names over time, or over the parts of a text, and the outline of the recording
// behind them. A click selects the unit at that place.
export function OverTime({
  s,
  drawn,
  peaks,
  length,
  moved,
  begin,
  at,
  pick,
}: {
  s: Series;
  drawn: number[];
  peaks?: Peaks;
  length?: number; // seconds, if known
  moved: RefObject<(seconds: number) => void>;
  begin?: number; // where the player is at first, in seconds
  at?: number; // the unit to mark; with a player, moved marks the moment
  pick: (i: number) => void;
}) {
  const frame = useRef<HTMLDivElement>(null),
    cursor = useRef<(x: number) => void>(() => {}),
    last = useRef(begin); // where the line is
  const night = useNight(),
    Plot = usePlots();
  const newest = useRef(pick);
  newest.current = pick;
  const timed = s.units[0]!.time !== undefined;
  const names = drawn.map((d) => s.names[d]!);
  useEffect(() => {
    if (!Plot) return;
    const { places, lines, units } = drawingOf(s, drawn, mostPoints),
      at = frame.current!;
    const plot = new Plot(optionsOf(s, at, names, night, timed, peaks, length), [places, ...lines], at);
    const line = document.createElement("div");
    line.className = "moment";
    line.hidden = true;
    plot.over.append(line);
    cursor.current = moved.current = (x) => {
      last.current = x;
      const left = plot.valToPos(x, "x");
      line.hidden = !(left >= 0 && left <= plot.over.clientWidth);
      line.style.left = `${left}px`;
    };
    // After each change of the size or of the stretch that is shown, the line goes to its new place.
    (plot.hooks.draw ??= []).push(() => last.current !== undefined && cursor.current(last.current));
    let pressed = 0;
    plot.over.addEventListener("mousedown", (e) => (pressed = e.clientX));
    plot.over.addEventListener("click", (e) => {
      if (Math.abs(e.clientX - pressed) > clickPX) return;
      const i = units[plot.posToIdx(e.clientX - plot.over.getBoundingClientRect().left)];
      if (i !== undefined) newest.current(i);
    });
    const fits = new ResizeObserver(() => plot.setSize({ width: at.clientWidth, height: heightPX }));
    fits.observe(at);
    return () => {
      cursor.current = moved.current = () => {};
      fits.disconnect();
      plot.destroy();
    };
  }, [Plot, s, drawn.join(), night, peaks, length]);
  useEffect(() => {
    if (at !== undefined) cursor.current(middle(s.units[at]!, at));
  }, [at]);
  return (
    <div
      ref={frame}
      class="chart"
      role="img"
      aria-label={`Chart of ${names.join(", ")}. The tables below say the same.`}
    />
  );
}

function optionsOf(
  s: Series,
  frame: HTMLElement,
  names: string[],
  night: boolean,
  timed: boolean,
  peaks?: Peaks,
  length?: number,
): uPlot.Options {
  const axis = axisIn(frame);
  const crowd =
    s.units.length <= mostPoints && s.units.some((u, i) => i > 0 && u.box && u.frame === s.units[i - 1]!.frame);
  const ends: uPlot.Range.Function = (_, min, max) =>
    timed ? [Math.min(0, min), Math.max(length ?? 0, max, min + 1)] : [min, Math.max(max, min + 1)];
  let whole = true;
  return {
    width: frame.clientWidth,
    height: heightPX,
    scales: {
      x: {
        time: false,
        range: (u, min, max) => {
          const all = whole;
          whole = false;
          return all ? ends(u, min, max, "x") : [min, max];
        },
      },
      y: { range: (_, __, max) => [0, Math.max(0.2, Math.min(1, max * 1.1))] },
    },
    axes: [
      { ...axis, values: (_, all) => all.map((v) => (timed ? `${v} s` : String(v))) },
      { ...axis, size: 44 },
    ],
    series: [
      { label: timed ? "Second" : "Number", value: (_, v) => (v === null ? "–" : v.toFixed(timed ? 1 : 0)) },
      ...names.map((label, i) => ({
        label,
        stroke: (night ? coloursAtNight : colours)[i],
        dash: dashes[i],
        width: 2,
        points: { show: crowd || s.units.length <= mostDots, size: 5 },
        paths: crowd ? () => null : undefined, // several faces at a time are no line
        value: (_: uPlot, v: number | null) => (v === null ? "–" : v.toFixed(2)),
      })),
    ],
    hooks: { drawClear: [(u) => peaks && drawOutline(u, peaks, axis.grid.stroke)] },
  };
}

// drawOutline draws the recording behind the lines, around the middle of the chart.
function drawOutline(u: uPlot, peaks: Peaks, colour: string) {
  const { left, top, width, height } = u.bbox;
  u.ctx.save();
  u.ctx.beginPath();
  u.ctx.rect(left, top, width, height);
  u.ctx.clip();
  u.ctx.fillStyle = colour;
  const part = peaks.seconds / peaks.values.length;
  peaks.values.forEach((v, i) => {
    const from = u.valToPos(i * part, "x", true),
      to = u.valToPos((i + 1) * part, "x", true);
    const tall = Math.max(1, v * height);
    u.ctx.fillRect(from, top + (height - tall) / 2, Math.max(1, to - from), tall);
  });
  u.ctx.restore();
}
