import { useState } from "preact/hooks";
import type { AnswerItem, ReturnTry } from "../../rest";
import { post } from "../api";
import { useDoing } from "../load";
import { Field } from "../parts/field";
import { percent } from "../parts/format";
import { ErrorLine } from "../parts/notice";
import { type AnswersMode, usable } from "./rows";

// tryOut asks the box which of some answers fits a question.
export const tryOut = (items: AnswerItem[], text: string, before?: string) =>
  post<ReturnTry>("/v0/box/answers/try", { answers: { items: usable(items) }, text, before: before || undefined });

// tryConfig asks the box which answer of a config fits a question, with the language model of the config.
const tryConfig = (config_id: string, text: string, before: string) =>
  post<ReturnTry>("/v0/box/answers/try", { config_id, text, before: before || undefined });

interface Tried extends ReturnTry {
  text: string;
  items: AnswerItem[];
}

// mostOthers is how many of the other answers are shown.
const mostOthers = 4;

// TryQuestion shows which answer of the table the box chooses for a question, and which ones were near.
export function TryQuestion({
  config,
  changed,
  empty,
  items,
  mode,
  unknown,
  show,
}: {
  config: string;
  changed: boolean; // the table is not saved
  empty: boolean; // no answer is finished
  items: () => AnswerItem[];
  mode: AnswersMode;
  unknown: string;
  show: (id: string) => void;
}) {
  const [text, setText] = useState("");
  const [before, setBefore] = useState("");
  const [tried, setTried] = useState<Tried>();
  const doing = useDoing();
  const ask = () =>
    doing.run(async () => {
      const now = items(),
        question = text.trim(),
        earlier = before.trim();
      const found = changed ? await tryOut(now, question, earlier) : await tryConfig(config, question, earlier);
      setTried({ ...found, text: question, items: now });
    });
  return (
    <section class="card try" aria-labelledby="try">
      <h2 id="try">Try a question</h2>
      <p class="help">
        {empty ? "Write an answer first." : "The box looks in the table as it is now, saved or not. It stores nothing."}
      </p>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          if (!doing.busy && text.trim() && !empty) void ask();
        }}
      >
        <Field label="Question" value={text} set={setText} maxLength={1000} placeholder="Is it open on Sunday?" />
        <Field
          label="Asked before"
          value={before}
          set={setBefore}
          maxLength={1000}
          help="For a question that only makes sense after another, such as “and on Sundays?”."
        />
        <button type="submit" class="primary" disabled={doing.busy || !text.trim() || empty}>
          {doing.busy ? "Looking …" : "Try"}
        </button>
      </form>
      <ErrorLine error={doing.error} />
      <div role="status">{tried && <Found tried={tried} mode={mode} unknown={unknown} show={show} />}</div>
    </section>
  );
}

function Found({
  tried,
  mode,
  unknown,
  show,
}: {
  tried: Tried;
  mode: AnswersMode;
  unknown: string;
  show: (id: string) => void;
}) {
  const chosen = tried.items.find((item) => item.id === tried.answer_id);
  const others = tried.others.filter((o) => o.answer_id !== tried.answer_id).slice(0, mostOthers);
  return (
    <>
      <p class="bubble you">{tried.text}</p>
      {chosen ? (
        <>
          <p class="bubble box">{chosen.say}</p>
          <p class="faint">
            <ToRow id={chosen.id} show={show} /> fits: {percent(tried.score)} sure.
          </p>
        </>
      ) : (
        <>
          {mode === "only" && unknown && <p class="bubble box">{unknown}</p>}
          <p class="faint">
            No answer fits. {mode === "only" ? "It says so." : "The language model answers from its prompt."}
          </p>
        </>
      )}
      {others.length > 0 && (
        <>
          <h3>{chosen ? "Also near" : "Nearest"}</h3>
          <ul class="near">
            {others.map((o) => (
              <li key={o.answer_id}>
                <ToRow id={o.answer_id} show={show} />
                <span class="faint">{percent(o.score)}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

// ToRow leads to an answer in the table.
export function ToRow({ id, show }: { id: string; show: (id: string) => void }) {
  return (
    <button type="button" class="link" onClick={() => show(id)}>
      {id}
    </button>
  );
}
