import { useEffect, useRef } from "preact/hooks";
import type uPlot from "uplot";
import { axisIn, colours, coloursAtNight, useNight, usePlots } from "./chart_style";

export interface Line {
  name: string;
  values: (number | null)[];
  points?: boolean;
}

const heightPX = 180;
// Lines differ by dash pattern as well as by colour.
const dashes = [[], [6, 4]];

// Chart draws lines over time. seconds holds Unix seconds; says describes the chart for screen readers; least is the
// smallest range of the vertical axis. The horizontal axis covers all seconds, or the last `back` seconds.
export function Chart({
  says,
  seconds,
  lines,
  unit,
  least = 1,
  back,
}: {
  says: string;
  seconds: number[];
  lines: Line[];
  unit: string;
  least?: number;
  back?: number;
}) {
  const at = useRef<HTMLDivElement>(null),
    plot = useRef<uPlot | undefined>(undefined);
  const night = useNight(),
    Plot = usePlots();
  const data = [seconds, ...lines.map((l) => l.values)] as uPlot.AlignedData;
  const newest = useRef(data);
  newest.current = data;
  const names = lines.map((l) => l.name).join();
  useEffect(() => {
    if (!Plot) return;
    const frame = at.current!,
      axis = axisIn(frame);
    plot.current = new Plot(
      {
        width: frame.clientWidth,
        height: heightPX,
        scales: {
          x: back ? { range: () => [Date.now() / 1000 - back, Date.now() / 1000] } : {},
          y: { range: (_, __, max) => [0, Math.max(max * 1.1, least)] },
        },
        axes: [axis, { ...axis, size: 76, values: (_, all) => all.map((v) => `${v} ${unit}`) }],
        series: [
          { label: "Time" },
          ...lines.map((l, i) => ({
            label: l.name,
            stroke: (night ? coloursAtNight : colours)[i],
            dash: dashes[i],
            width: 2,
            points: { show: l.points ?? false, size: 6 },
            paths: l.points ? () => null : undefined,
            value: (_: uPlot, v: number | null) => (v === null ? "–" : `${v.toFixed(1)} ${unit}`),
          })),
        ],
      },
      newest.current,
      frame,
    );
    const fits = new ResizeObserver(() => plot.current?.setSize({ width: frame.clientWidth, height: heightPX }));
    fits.observe(frame);
    return () => {
      fits.disconnect();
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [Plot, night, names, unit, back]);
  useEffect(() => plot.current?.setData(newest.current), [seconds]);
  return <div ref={at} class="chart" role="img" aria-label={says} />;
}
