import { useState } from "preact/hooks";
import type { ReturnTurn } from "../../rest";

// A Stage is a part of a turn, in milliseconds from the end of the user's speech.
interface Stage {
  name: string;
  from: number;
  to: number;
}

// stagesOf returns the stages of a turn in order. An answer prepared during the silence has stages before the silence
// ends.
export function stagesOf(t: ReturnTurn): Stage[] {
  const at = (ms: number) => ms - t.voice_end;
  const token = t.first_token ?? t.first_sentence;
  const spoken: Stage[] = t.typed
    ? []
    : [
        { name: "Silence that ends the turn", from: 0, to: at(t.turn_end) },
        { name: "Transcript", from: 0, to: at(t.transcript) },
      ];
  return [
    ...spoken,
    {
      name: t.called_tool ? "Tool and first word of the model" : "First word of the model",
      from: at(t.transcript),
      to: at(token),
    },
    { name: "First sentence", from: at(token), to: at(t.first_sentence) },
    { name: "First sound", from: at(t.first_sentence), to: at(t.first_sound) },
    { name: "Held until the turn ended, then sent", from: at(t.first_sound), to: at(t.sent) },
  ];
}

const few = 3;

// Waterfall shows the timing of each turn, the newest first.
export function Waterfall({ turns }: { turns: ReturnTurn[] }) {
  const [all, setAll] = useState(false);
  if (turns.length === 0)
    return (
      <p class="faint">
        After the first answer, this shows the time between your last word and the first sound of the answer.
      </p>
    );
  const newest = [...turns].reverse(),
    shown = all ? newest : newest.slice(0, few);
  return (
    <>
      {shown.map((t) => (
        <OneTurn key={t.turn} turn={t} number={turns.indexOf(t) + 1} />
      ))}
      {newest.length > few && (
        <button type="button" onClick={() => setAll(!all)}>
          {all ? "Show only the newest" : `Show all ${newest.length}`}
        </button>
      )}
    </>
  );
}

function OneTurn({ turn, number }: { turn: ReturnTurn; number: number }) {
  const stages = stagesOf(turn);
  const from = Math.min(0, ...stages.map((s) => s.from)),
    whole = Math.max(1, turn.sent - turn.voice_end) - from;
  const share = (ms: number) => `${((100 * ms) / whole).toFixed(2)}%`;
  return (
    <table class="waterfall">
      <caption>
        Turn {number}
        {turn.typed ? ", typed" : ""}: {turn.sent - turn.voice_end} ms to the first sound
        {turn.typed ? "" : `, ${turn.sent - turn.turn_end} ms after the silence`}
      </caption>
      <colgroup>
        <col class="stage" />
        <col />
        <col class="ms" />
      </colgroup>
      <thead class="unseen">
        <tr>
          <th scope="col">Stage</th>
          <th scope="col">When</th>
          <th scope="col">Milliseconds</th>
        </tr>
      </thead>
      <tbody>
        {stages.map((s) => (
          <tr key={s.name}>
            <th scope="row">{s.name}</th>
            <td class="track">
              <span
                class="bar"
                style={{ left: share(Math.min(s.from, s.to) - from), width: share(Math.abs(s.to - s.from)) }}
              />
              <span class="unseen">
                from {s.from} to {s.to}
              </span>
            </td>
            <td class="number">{s.to - s.from}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
