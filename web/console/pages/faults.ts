// Which field of a form an error of the box is of.
import { useEffect } from "preact/hooks";
import { Refused } from "../api";

// Faults are what is wrong, by the field's name as the API writes it:
// "turn_detection.end_of_turn_silence_ms", "webhooks[0].url".
export type Faults = Record<string, string>;

// faultsOf reads them off an error: a list of them, or one whose message begins with
// the name of its field.
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

// unplaced is an error for the line below a form: of the faults those that stand at
// none of its fields, and any other error as it is.
export function unplaced(error: Error | undefined, has: (path: string) => boolean): Error | undefined {
  const faults = faultsOf(error);
  if (Object.keys(faults).length === 0) return error;
  const others = Object.entries(faults)
    .filter(([path]) => !has(path))
    .map(([path, why]) => `${path}: ${why}`);
  return new Error(others.length > 0 ? others.join("\n") : "Not saved: see the fields that are marked.");
}

// useShown leads to the first field that is wrong, when an error comes: what hides it
// is opened.
export function useShown(error: Error | undefined): void {
  useEffect(() => {
    const first = error && document.querySelector<HTMLElement>("main [aria-invalid]");
    if (!first) return;
    for (let hides = first.closest("details"); hides; hides = hides.parentElement?.closest("details") ?? null)
      hides.open = true;
    first.focus();
  }, [error]);
}
