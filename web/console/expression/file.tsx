import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { BatchJob, InferencePrediction, SourceResult } from "../../rest";
import { Select } from "../parts/field";
import { save } from "../parts/save";
import { localFile, sourceText } from "./local_files";
import { Names } from "./names";
import { OverTime } from "./over_time";
import { Picture } from "./picture";
import { Player, usePeaks } from "./player";
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
  const s = all[chosen];
  if (!s) return <p class="quiet">Nothing was found in this file: no face, and no words.</p>;
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
      <SeriesScores key={chosen} s={s} file={file} whole={whole} name={prediction.file} />
    </>
  );
}

// useText returns the whole text that was scored: that of the request, or of a local text file.
function useText(file: File | undefined, given: string | undefined): string | undefined {
  const [text, setText] = useState(given);
  useEffect(() => {
    if (file?.type.startsWith("text/")) void file.text().then(setText, () => {});
  }, [file]);
  return text;
}

function SeriesScores({ s, file, whole, name }: { s: Series; file?: File; whole?: string; name: string }) {
  const summary = useMemo(() => summaryOf(s), [s]);
  const [drawn, setDrawn] = useState(() => top(summary.highest, mostDrawn));
  const [at, setAt] = useState<number>();
  const player = useRef<HTMLMediaElement>(null);
  const moved = useRef<(seconds: number) => void>(() => {}); // moves the cursor of the chart
  const kind = file?.type.split("/")[0];
  const [length, setLength] = useState<number>();
  const peaks = usePeaks(kind === "audio" ? file : undefined, length);
  const pick = (i: number) => {
    setAt(i);
    const time = s.units[i]?.time;
    if (time && player.current) player.current.currentTime = time.begin;
  };
  const unit = at === undefined ? undefined : s.units[at];
  const played = kind === "audio" || kind === "video",
    picture = isPicture(s);
  const chart = !picture && (played || s.units.length > 1);
  const toggle = (i: number) =>
    setDrawn(drawn.includes(i) ? drawn.filter((d) => d !== i) : [...drawn, i].slice(-mostDrawn));
  return (
    <>
      {picture ? (
        <Picture file={kind === "image" ? file : undefined} units={s.units} at={at} pick={setAt} names={s.names} />
      ) : (
        <>
          {played && (
            <Player
              media={player}
              file={file!}
              video={kind === "video"}
              moved={(seconds) => moved.current(seconds)}
              at={(seconds) => setAt(unitAt(s.units, seconds))}
              length={setLength}
            />
          )}
          {chart && (
            <OverTime
              s={s}
              drawn={drawn}
              peaks={peaks}
              length={length}
              moved={moved}
              at={played ? undefined : at}
              pick={pick}
            />
          )}
        </>
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
