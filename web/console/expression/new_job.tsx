import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { JobID } from "../../rest";
import { sendForm } from "../api";
import { useDoing } from "../load";
import { Area, Check, Labelled, Select } from "../parts/field";
import { bytes } from "../parts/format";
import { ErrorLine } from "../parts/notice";
import { remember } from "./local_files";

const models = [
  ["face", "Faces"],
  ["prosody", "Voices"],
  ["language", "Words"],
  ["ner", "People, places and times in the words"],
] as const;
type Model = (typeof models)[number][0];

const units = [
  ["", "The usual: words of a text, utterances of a voice"],
  ["word", "Words"],
  ["sentence", "Sentences"],
  ["utterance", "Utterances, which end at a pause"],
  ["conversational_turn", "Turns of a conversation"],
] as const;

// requestOf returns the request that the form describes.
function requestOf(text: string, wanted: Record<Model, boolean>, granularity: string, identify: boolean) {
  const speech = { granularity: granularity || undefined, identify_speakers: identify };
  return {
    text: text.trim() ? [text] : undefined,
    transcription: { identify_speakers: identify },
    models: {
      face: wanted.face ? { identify_faces: identify } : undefined,
      prosody: wanted.prosody ? speech : undefined,
      language: wanted.language ? speech : undefined,
      ner: wanted.ner ? { identify_speakers: identify } : undefined,
    },
  };
}

// NewJob sends files and a text to the box, and calls started with the id of the job.
export function NewJob({ started }: { started: (id: string) => void }) {
  const id = useId();
  const [files, setFiles] = useState<File[]>([]);
  const [text, setText] = useState("");
  const [wanted, setWanted] = useState({ face: true, prosody: true, language: true, ner: true });
  const [granularity, setGranularity] = useState("");
  const [identify, setIdentify] = useState(false);
  const [sent, setSent] = useState<number>();
  const stop = useRef<AbortController | undefined>(undefined);
  const doing = useDoing();
  const over = useDrop((more) => setFiles((all) => [...all, ...more]));
  useEffect(() => () => stop.current?.abort(), []);
  const total = files.reduce((sum, f) => sum + f.size, 0);
  const start = () =>
    doing.run(async () => {
      const form = new FormData();
      form.append("json", JSON.stringify(requestOf(text, wanted, granularity, identify)));
      for (const f of files) form.append("file", f, f.name);
      const mine = (stop.current = new AbortController());
      try {
        const made = await sendForm<JobID>("/v0/batch/jobs", form, setSent, mine.signal);
        remember(made.job_id, files);
        started(made.job_id);
      } catch (err) {
        if (!mine.signal.aborted) throw err;
      } finally {
        setSent(undefined);
      }
    });
  const nothing = files.length === 0 && !text.trim();
  return (
    <form
      class={over ? "card drop over" : "card drop"}
      onSubmit={(e) => {
        e.preventDefault();
        void start();
      }}
    >
      <Labelled
        id={id}
        label="Pictures, videos, recordings or texts"
        help="Or drop them anywhere on this page. Archives (zip, tar, tar.gz) may hold many."
      >
        <input
          id={id}
          type="file"
          multiple
          aria-describedby={`${id}-help`}
          onChange={(e) => {
            setFiles([...files, ...Array.from(e.currentTarget.files ?? [])]);
            e.currentTarget.value = "";
          }}
        />
      </Labelled>
      {files.length > 0 && (
        <ul class="files" aria-label="Chosen files">
          {files.slice(0, 20).map((f, i) => (
            <li key={i}>
              {f.name} <span class="faint">{bytes(f.size)}</span>{" "}
              <button type="button" class="link" onClick={() => setFiles(files.filter((_, at) => at !== i))}>
                Remove<span class="unseen"> {f.name}</span>
              </button>
            </li>
          ))}
          {files.length > 20 && <li class="faint">and {files.length - 20} more</li>}
        </ul>
      )}
      <Area label="Or a text" value={text} set={setText} rows={3} />
      <details>
        <summary>Options</summary>
        <fieldset>
          <legend>Scores of</legend>
          {models.map(([model, label]) => (
            <Check
              key={model}
              label={label}
              value={wanted[model]}
              set={(on) => setWanted({ ...wanted, [model]: on })}
            />
          ))}
        </fieldset>
        <Select label="A score for each of" value={granularity} set={setGranularity} options={units} />
        <Check label="Tell faces and voices apart" value={identify} set={setIdentify} />
      </details>
      <ErrorLine error={doing.error} />
      {sent !== undefined && total > 0 && (
        <p>
          <progress value={sent} max={1} aria-label="Upload" /> {bytes(sent * total)} of {bytes(total)}
        </p>
      )}
      <div class="buttons">
        <button type="submit" class="primary" disabled={doing.busy || nothing || !Object.values(wanted).some(Boolean)}>
          {doing.busy ? "Sending …" : "Analyse"}
        </button>
        {doing.busy && (
          <button type="button" onClick={() => stop.current?.abort()}>
            Cancel
          </button>
        )}
      </div>
    </form>
  );
}

// useDrop takes files that are dropped anywhere on the page, and tells whether some are held over it.
function useDrop(take: (files: File[]) => void): boolean {
  const [over, setOver] = useState(false);
  const newest = useRef(take);
  newest.current = take;
  useEffect(() => {
    const held = (e: DragEvent) => {
      if (!e.dataTransfer?.types.includes("Files")) return;
      e.preventDefault(); // otherwise the browser leaves the page to show the file
      setOver(e.type === "dragover");
      if (e.type === "drop") newest.current(Array.from(e.dataTransfer.files));
    };
    const kinds = ["dragover", "dragleave", "drop"] as const;
    for (const kind of kinds) addEventListener(kind, held);
    return () => {
      for (const kind of kinds) removeEventListener(kind, held);
    };
  }, []);
  return over;
}
