import { useEffect, useRef, useState } from "preact/hooks";
import { useDoing } from "../load";
import { Field } from "../parts/field";
import { ErrorLine } from "../parts/notice";
import { type Answer, Trial } from "./trial";

interface Asked extends Answer {
  question: string;
}

// TryIt answers questions with the current text of a prompt, saved or not.
export function TryIt({ prompt }: { prompt: string }) {
  const trial = useRef<Trial>(new Trial());
  const [question, setQuestion] = useState("");
  const [all, setAll] = useState<(Asked & { prompt: string })[]>([]);
  const doing = useDoing();
  useEffect(() => () => trial.current.close(), []);
  const ask = async () => {
    const text = question.trim();
    if (!text || !prompt.trim() || doing.busy) return;
    setQuestion("");
    setAll((before) => [...before, { question: text, text: "", prompt }]);
    const came = (a: Answer) => setAll((before) => [...before.slice(0, -1), { ...before.at(-1)!, ...a }]);
    if (!(await doing.run(() => trial.current.ask(prompt, text, came)))) {
      trial.current.close();
      setAll((before) => (before.at(-1)?.text ? before : before.slice(0, -1)));
      setQuestion(text);
    }
  };
  const anew = () => {
    trial.current.close();
    doing.clear();
    setAll([]);
  };
  return (
    <section class="card try" aria-labelledby="try">
      <div class="head">
        <h2 id="try">Try it</h2>
        {all.length > 0 && (
          <button type="button" disabled={doing.busy} onClick={anew}>
            Begin anew
          </button>
        )}
      </div>
      <p class="help">The box answers with the current text, saved or not. It stores nothing.</p>
      <ol class="asked" aria-live="polite" aria-label="Questions and answers">
        {all.map((a, i) => (
          <li key={i}>
            <p class="bubble you">
              <span class="unseen">You: </span>
              {a.question}
            </p>
            <p class="bubble box">
              <span class="unseen">Box: </span>
              {a.text || (doing.busy && i === all.length - 1 ? "…" : "No answer.")}
            </p>
            {a.words !== undefined && (
              <p class="faint timing">
                First words after {seconds(a.words)}
                {a.sound !== undefined && <>, first sound after {seconds(a.sound)}</>}
                {a.whole !== undefined && <>, all after {seconds(a.whole)}</>}.
                {i > 0 && all[i - 1]!.prompt !== a.prompt && <> The prompt was another one before.</>}
              </p>
            )}
          </li>
        ))}
      </ol>
      <ErrorLine error={doing.error} />
      <form
        class="row"
        onSubmit={(e) => {
          e.preventDefault();
          void ask();
        }}
      >
        <Field
          label="Question"
          hideLabel
          value={question}
          set={setQuestion}
          maxLength={2000}
          placeholder="Ask something …"
          disabled={doing.busy}
        />
        <button type="submit" class="primary" disabled={doing.busy || !prompt.trim()}>
          Ask
        </button>
      </form>
    </section>
  );
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
