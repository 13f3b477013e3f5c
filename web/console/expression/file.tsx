import type { RefObject } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { BatchJob, InferencePrediction, SourceResult } from "../../rest";
import { Select } from "../parts/field";
import { save } from "../parts/save";
import { localFile, sourceText } from "./local_files";
import { Names } from "./names";
import { OverTime } from "./over_time";
import { Picture } from "./picture";
import { type Peaks, Player, usePeaks } from "./player";
import { type Series, asCSV, isPicture, said, seriesOf, summaryOf, top, unitAt } from "./scores";
import { UnitTable, placeOf } from "./units";
import { Words } from "./words";

// How many names are drawn at once: nobody can tell more lines apart.
export const mostDrawn = 5;

// FileScores shows the scores of one file: beside its medium if this tab has it, else by themselves.
export function FileScores({
  job,
  result,
  prediction,
}: {
  job: BatchJob;
  result: SourceResult;
  prediction: InferencePrediction;
}) {
  const all = useMemo(() => seriesOf(prediction.models), [prediction]);
  const [chosen, setChosen] = useState(0);
  const file = localFile(job.job_id, result, prediction.file);
  const whole = useText(file, sourceText(job, result, prediction.file));
  const kind = file?.type.split("/")[0];
  const [length, setLength] = useState<number>();
  const playback: Playback = {
    played: kind === "audio" || kind === "video",
    media: useRef(null),
    moved: useRef(() => {}),
    heard: useRef(() => {}),
    length,
    peaks: usePeaks(kind === "audio" ? file : undefined, length),
  };
  const s = all[chosen];
  if (!s) return <p class="quiet">Nothing was found in this file: no face, no speech and no words.</p>;
  return (
    <>
      {all.length > 1 && (
        <Select
          label="Scores of"
          value={String(chosen)}
          set={(n) => setChosen(Number(n))}
          options={all.map((one, i) => [String(i), one.label] as const)}
        />
      )}
      {playback.played && (
        <Player
          media={playback.media}
          file={file!}
          video={kind === "video"}
          moved={(seconds) => playback.moved.current(seconds)}
          at={(seconds) => playback.heard.current(seconds)}
          length={setLength}
        />
      )}
      <SeriesScores
        key={chosen}
        s={s}
        picture={kind === "image" ? file : undefined}
        whole={whole}
        name={prediction.file}
        playback={playback}
      />
    </>
  );
}

// Playback connects the player of a file with the scores that are shown.
interface Playback {
  played: boolean; // there is a player
  media: RefObject<HTMLMediaElement | null>;
  moved: RefObject<(seconds: number) => void>; // moves the line of the chart
  heard: RefObject<(seconds: number) => void>; // selects what is played
  length?: number; // seconds, if known
  peaks?: Peaks;
}

// useText returns the whole text that was scored: that of the request, or of a local text file.
function useText(file: File | undefined, given: string | undefined): string | undefined {
  const [text, setText] = useState(given);
  useEffect(() => {
    if (file?.type.startsWith("text/")) void file.text().then(setText, () => {});
  }, [file]);
  return text;
}

function SeriesScores({
  s,
  picture,
  whole,
  name,
  playback,
}: {
  s: Series;
  picture?: File;
  whole?: string;
  name: string;
  playback: Playback;
}) {
  const { played, media, moved, heard, length, peaks } = playback;
  const summary = useMemo(() => summaryOf(s), [s]);
  const [drawn, setDrawn] = useState(() => top(summary.highest, mostDrawn));
  const [at, setAt] = useState<number>();
  useEffect(() => {
    heard.current = (seconds) => setAt(unitAt(s.units, seconds));
    const now = media.current?.currentTime;
    if (now) heard.current(now);
  }, [s]);
  const pick = (i: number) => {
    setAt(i);
    const time = s.units[i]?.time;
    if (time && media.current) media.current.currentTime = time.begin;
  };
  const unit = at === undefined ? undefined : s.units[at];
  const faces = isPicture(s),
    chart = !faces && (played || s.units.length > 1);
  const toggle = (i: number) =>
    setDrawn(drawn.includes(i) ? drawn.filter((d) => d !== i) : [...drawn, i].slice(-mostDrawn));
  return (
    <>
      {faces && <Picture file={picture} units={s.units} at={at} pick={setAt} names={s.names} />}
      {chart && (
        <OverTime
          s={s}
          drawn={drawn}
          peaks={peaks}
          length={length}
          moved={moved}
          begin={media.current?.currentTime}
          at={played ? undefined : at}
          pick={pick}
        />
      )}
      <p class="now">
        <strong>{unit ? placeOf(s, at!) : "On average"}</strong> {unit?.text && `“${unit.text}”`}{" "}
        {said(s.names, unit?.scores ?? summary.mean, mostDrawn)}
      </p>
      {s.units[0]!.text && (
        <Words s={s} whole={whole} name={drawn[0] ?? 0} highest={summary.highest} at={at} pick={pick} />
      )}
      <Names s={s} summary={summary} now={unit?.scores} drawn={drawn} toggle={chart ? toggle : undefined} />
      <UnitTable s={s} pick={pick} />
      <div class="buttons">
        <button type="button" onClick={() => save(`${name}-${s.model}.csv`, "text/csv", asCSV(s))}>
          Save this as CSV
        </button>
      </div>
    </>
  );
}
