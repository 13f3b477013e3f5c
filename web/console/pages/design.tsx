import { useState } from "preact/hooks";
import type { ReturnTTS, ReturnVoice } from "../../rest";
import { post } from "../api";
import { useDoing } from "../load";
import { Area, Field, Select } from "../parts/field";
import { ErrorLine } from "../parts/notice";
import { to } from "../route";
import { faultsOf, unplaced } from "./faults";
import { usePlayer } from "./player";

interface Candidate {
  id: string;
  sound: Blob;
  seconds: number;
  saved?: string;
}

// ideas are example descriptions.
const ideas = [
  "A warm, calm old man who takes his time",
  "A bright young woman, friendly and quick",
  "A deep, gravelly sailor",
  "A soft-spoken British woman, a little husky",
  "A lively child",
];

// Design makes voices from a description, to listen to and to save.
export function Design() {
  const [description, setDescription] = useState("");
  const [text, setText] = useState("Good morning, and welcome. I am here if you have a question.");
  const [number, setNumber] = useState("3");
  const [candidates, setCandidates] = useState<Candidate[]>([]);
  const player = usePlayer();
  const doing = useDoing();
  const faults = faultsOf(doing.error);
  const make = () =>
    doing.run(async () => {
      player.stop();
      setCandidates([]);
      const made = await post<ReturnTTS>("/v0/tts", {
        utterances: [{ text, description }],
        num_generations: Number(number),
        format: { type: "mp3" },
      });
      setCandidates(
        made.generations.map((g) => ({
          id: g.generation_id,
          seconds: g.duration,
          sound: new Blob([Uint8Array.from(atob(g.audio), (c) => c.charCodeAt(0))], { type: "audio/mpeg" }),
        })),
      );
    });
  return (
    <>
      <p>
        <a href={to("voices")}>All voices</a>
      </p>
      <h1>Design a voice</h1>
      <p>
        Describe in English who speaks and how the voice sounds. The box makes several candidates; save the one that you
        like.
      </p>
      <section class="card">
        <form
          onSubmit={(e) => {
            e.preventDefault();
            void make();
          }}
        >
          <Area
            label="Description"
            rows={3}
            required
            value={description}
            set={setDescription}
            maxLength={1000}
            error={faults["utterances[0].description"]}
            help="Gender, age, accent; deep or high, warm, raspy, breathy; slow or quick; calm, cheerful, serious."
          />
          <div class="buttons" role="group" aria-label="Examples">
            {ideas.map((idea) => (
              <button key={idea} type="button" class="idea" onClick={() => setDescription(idea)}>
                {idea}
              </button>
            ))}
          </div>
          <Area
            label="Sample text"
            rows={2}
            required
            value={text}
            set={setText}
            maxLength={500}
            error={faults["utterances[0].text"]}
          />
          <Select
            label="Number of candidates"
            value={number}
            set={setNumber}
            options={["1", "2", "3", "4", "5"].map((n) => [n, n] as const)}
          />
          <ErrorLine
            error={unplaced(doing.error, (p) => p === "utterances[0].description" || p === "utterances[0].text")}
          />
          <div class="buttons">
            <button type="submit" class="primary" disabled={doing.busy || !description.trim()}>
              {doing.busy ? "Making …" : "Make candidates"}
            </button>
          </div>
        </form>
      </section>
      <ol class="voices" aria-label="Candidates">
        {candidates.map((c, i) => (
          <li key={c.id} class="card">
            <h2>Candidate {i + 1}</h2>
            <div class="buttons">
              <button
                type="button"
                aria-pressed={player.playing === c.id}
                onClick={() =>
                  player.playing === c.id ? player.stop() : void doing.run(() => player.play(c.id, async () => c.sound))
                }
              >
                {player.playing === c.id ? "Stop" : "Play"}
                <span class="unseen"> candidate {i + 1}</span>
              </button>
              <span class="faint">{c.seconds.toFixed(1)} s</span>
            </div>
            <Save
              candidate={c}
              number={i + 1}
              saved={(name) => setCandidates((all) => all.map((o) => (o.id === c.id ? { ...o, saved: name } : o)))}
            />
          </li>
        ))}
      </ol>
    </>
  );
}

function Save({ candidate, number, saved }: { candidate: Candidate; number: number; saved: (name: string) => void }) {
  const [name, setName] = useState("");
  const doing = useDoing();
  const faults = faultsOf(doing.error);
  if (candidate.saved)
    return (
      <p role="status">
        Saved as <strong>{candidate.saved}</strong>. <a href={to("voices")}>All voices</a>
      </p>
    );
  return (
    <form
      class="row"
      onSubmit={(e) => {
        e.preventDefault();
        void doing.run(async () =>
          saved((await post<ReturnVoice>("/v0/tts/voices", { generation_id: candidate.id, name })).name),
        );
      }}
    >
      <Field
        label={`Save candidate ${number} as`}
        value={name}
        set={setName}
        required
        maxLength={74}
        error={faults.name}
      />
      <button type="submit" disabled={doing.busy || !name.trim()}>
        Save
      </button>
      <ErrorLine error={unplaced(doing.error, (p) => p === "name")} />
    </form>
  );
}
