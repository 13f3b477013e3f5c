// Turns the predictions of a file into series of scores, in a shape that is fast to draw.
import type { BoundingBox, ModelsPredictions, NamedScore, PositionInterval, TimeInterval } from "../../rest";

// A Unit is what one prediction is about: a face, an utterance, a word.
export interface Unit {
  text: string;
  time?: TimeInterval; // seconds
  position?: PositionInterval; // characters of the text or transcript
  box?: BoundingBox; // pixels
  frame?: number;
  scores: Float32Array; // in the order of the names of the series
}

// A Series holds the predictions of one model for one person.
export interface Series {
  label: string;
  model: keyof ModelsPredictions;
  names: string[];
  units: Unit[];
}

const labels: [keyof ModelsPredictions, string][] = [
  ["face", "Faces"],
  ["prosody", "Voice"],
  ["language", "Words"],
  ["ner", "People, places and times"],
  ["burst", "Sounds without words"],
  ["facemesh", "Face mesh"],
];

// Any prediction, with the fields that this page reads.
interface Prediction {
  emotions: NamedScore[];
  text?: string;
  entity?: string;
  time?: TimeInterval | number;
  position?: PositionInterval;
  box?: BoundingBox;
  frame?: number;
}

// seriesOf returns the series of a file that have predictions.
export function seriesOf(models: ModelsPredictions): Series[] {
  const all: Series[] = [];
  for (const [model, label] of labels) {
    if (model === "facemesh" && models.face) continue; // the same faces
    for (const group of models[model]?.grouped_predictions ?? []) {
      const predictions = group.predictions as Prediction[];
      if (predictions.length === 0) continue;
      const names = predictions[0]!.emotions.map((e) => e.name);
      const who = group.id === "unknown" ? "" : ` · ${group.id.replace("_", " ")}`;
      all.push({ label: label + who, model, names, units: predictions.map(unitOf) });
    }
  }
  return all;
}

function unitOf(p: Prediction): Unit {
  return {
    text: p.text ?? p.entity ?? "",
    time: typeof p.time === "number" ? { begin: p.time, end: p.time } : p.time,
    position: p.position,
    box: p.box,
    frame: p.frame,
    scores: Float32Array.from(p.emotions, (e) => e.score),
  };
}

// isPicture tells whether a series holds the faces of a picture. Those of a video have frames.
export const isPicture = (s: Series) => s.model === "face" && s.units.every((u) => u.frame === 0);

// A Summary holds the mean and the highest score of each name.
export interface Summary {
  mean: Float32Array;
  highest: Float32Array;
}

export function summaryOf(s: Series): Summary {
  const mean = new Float32Array(s.names.length),
    highest = new Float32Array(s.names.length);
  for (const u of s.units)
    for (let i = 0; i < mean.length; i++) {
      const score = u.scores[i] ?? 0;
      mean[i]! += score / s.units.length;
      highest[i] = Math.max(highest[i]!, score);
    }
  return { mean, highest };
}

// top returns the indices of the n highest scores, the highest first.
export function top(scores: Float32Array, n: number): number[] {
  return Array.from(scores.keys())
    .sort((a, b) => scores[b]! - scores[a]!)
    .slice(0, n);
}

// said names the highest scores: Joy 0.42, Amusement 0.31.
export const said = (names: string[], scores: Float32Array, n = 3) =>
  top(scores, n)
    .map((i) => `${names[i]} ${scores[i]!.toFixed(2)}`)
    .join(", ");

// middle returns where a unit stands on the horizontal axis: seconds, or its number in a text.
export const middle = (u: Unit, i: number) => (u.time ? (u.time.begin + u.time.end) / 2 : i + 1);

// A Drawing holds the lines of a chart: for each point its place, its scores, and the unit that it begins with.
export interface Drawing {
  places: number[];
  lines: number[][]; // in the order of the drawn names
  units: number[];
}

// drawingOf returns the scores of some names in the order of time. With more units than mostPoints, each point is the
// mean of equally many. Otherwise a stretch of sound is a line from its beginning to its end, unless it overlaps with
// the next.
export function drawingOf(s: Series, drawn: number[], mostPoints: number): Drawing {
  const places = s.units.map(middle);
  const order = Array.from(places.keys()).sort((a, b) => places[a]! - places[b]!);
  const each = Math.ceil(order.length / mostPoints);
  const d: Drawing = { places: [], lines: drawn.map(() => []), units: [] };
  const ends = (i: number) => s.units[i]!.time?.end ?? NaN;
  if (each === 1 && order.every((i, n) => ends(i) <= (s.units[order[n + 1]!]?.time?.begin ?? Infinity))) {
    for (const i of order)
      for (const place of new Set([s.units[i]!.time!.begin, ends(i)])) {
        d.places.push(place);
        d.units.push(i);
        drawn.forEach((name, n) => d.lines[n]!.push(s.units[i]!.scores[name]!));
      }
    return d;
  }
  for (let from = 0; from < order.length; from += each) {
    const part = order.slice(from, from + each);
    const mean = (of: (unit: number) => number) => part.reduce((sum, i) => sum + of(i), 0) / part.length;
    d.places.push(mean((i) => places[i]!));
    d.units.push(part[0]!);
    drawn.forEach((name, n) => d.lines[n]!.push(mean((i) => s.units[i]!.scores[name]!)));
  }
  return d;
}

// unitAt returns the index of the unit at a time, or of the last one before it. The units are in the order of time.
export function unitAt(units: Unit[], seconds: number): number | undefined {
  let low = 0,
    high = units.length;
  while (low < high) {
    const half = (low + high) >> 1;
    if ((units[half]!.time?.begin ?? 0) <= seconds) low = half + 1;
    else high = half;
  }
  return low > 0 ? low - 1 : undefined;
}

const quoted = (cell: string | number | undefined) => {
  const text = String(cell ?? "");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

// asCSV returns a series as a table for spreadsheets, a row for each unit.
export function asCSV(s: Series): string {
  const rows = s.units.map((u) => [
    ...[u.time?.begin, u.time?.end, u.frame, u.position?.begin, u.position?.end],
    ...[u.box?.x, u.box?.y, u.box?.w, u.box?.h, u.text],
    ...Array.from(u.scores, (v) => v.toFixed(4)),
  ]);
  const head = ["begin", "end", "frame", "position_begin", "position_end", "x", "y", "w", "h", "text", ...s.names];
  return [head, ...rows].map((row) => row.map(quoted).join(",") + "\r\n").join("");
}
