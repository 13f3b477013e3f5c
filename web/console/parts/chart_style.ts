import { useEffect, useState } from "preact/hooks";
import type uPlot from "uplot";

// Colours that people with red-green colour blindness can tell apart, in light and dark mode.
// (Okabe and Ito, https://jfly.uni-koeln.de/color/).
export const colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a7a00"],
  coloursAtNight = ["#56b4e9", "#e69f00", "#2fc49a", "#e49ac4", "#f0e442"];

// axisIn returns the style of an axis, from the CSS of an element.
export function axisIn(frame: Element) {
  const style = getComputedStyle(frame),
    grid = style.getPropertyValue("--line");
  return {
    stroke: style.getPropertyValue("--soft"),
    grid: { stroke: grid, width: 1 },
    ticks: { stroke: grid, width: 1 },
    font: "12px system-ui, sans-serif",
  };
}

// usePlots loads the chart library. When that fails, the page shows no charts, only their descriptions.
export function usePlots(): typeof uPlot | undefined {
  const [plots, setPlots] = useState<typeof uPlot>();
  useEffect(() => {
    import("../plots").then(
      (all) => setPlots(() => all.default),
      () => {},
    );
  }, []);
  return plots;
}

// useNight reports whether the page is in dark mode.
export function useNight(): boolean {
  const asked = matchMedia("(prefers-color-scheme: dark)");
  const [night, setNight] = useState(asked.matches);
  useEffect(() => {
    const changed = () => setNight(asked.matches);
    asked.addEventListener("change", changed);
    return () => asked.removeEventListener("change", changed);
  }, []);
  return night;
}
