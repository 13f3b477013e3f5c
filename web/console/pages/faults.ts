// Assigns errors from the box to the fields of a form.
import { useEffect } from "preact/hooks";
import { Refused } from "../api";

// Faults maps a field's name, as the API writes it, to its error:
// "turn_detection.end_of_turn_silence_ms", "webhooks[0].url".
export type Faults = Record<string, string>;

// faultsOf extracts the faults of an error: its list of problems, or its message when that begins with a field's name.
export function faultsOf(error: Error | undefined): Faults {
  if (!(error instanceof Refused)) return {};
  const detail = (error.problem as { detail?: { loc: (string | number)[]; msg: string }[] } | undefined)?.detail;
  if (detail) return Object.fromEntries(detail.map((d) => [pathOf(d.loc), d.msg]));
  const named = /^([a-z_]+(?:\.[a-z_]+|\[\d+\])*): (.+)$/s.exec(error.message);
  return named ? { [named[1]!]: named[2]! } : {};
}

export function pathOf(loc: (string | number)[]): string {
  return loc
    .filter((l, i) => i > 0 || l !== "body")
    .reduce<string>((path, l) => (typeof l === "number" ? `${path}[${l}]` : path ? `${path}.${l}` : l), "");
}

// unplaced returns the error for the line below a form: the faults of fields that the form does not show, or any other
// error unchanged.
export function unplaced(error: Error | undefined, has: (path: string) => boolean): Error | undefined {
  const faults = faultsOf(error);
  if (Object.keys(faults).length === 0) return error;
  const others = Object.entries(faults)
    .filter(([path]) => !has(path))
    .map(([path, why]) => `${path}: ${why}`);
  return new Error(others.length > 0 ? others.join("\n") : "Not saved: see the marked fields.");
}

// useShown scrolls to the first field with an error and opens the section that hides it.
export function useShown(error: Error | undefined): void {
  useEffect(() => {
    const first = error && document.querySelector<HTMLElement>("main [aria-invalid]");
    if (!first) return;
    for (let hides = first.closest("details"); hides; hides = hides.parentElement?.closest("details") ?? null)
      hides.open = true;
    first.focus();
  }, [error]);
}
