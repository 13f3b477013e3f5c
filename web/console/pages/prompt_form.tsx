import { Area, Field } from "../parts/field";
import { type Form, advice } from "./prompt_text";

// PromptForm is the form of a prompt: role, facts, rules and examples.
export function PromptForm({ form, set, error }: { form: Form; set: (f: Form) => void; error?: string }) {
  const lines = (text: string) => text.split("\n");
  const doubtful = form.facts.flatMap((fact, i) => {
    const why = advice(fact);
    return why ? [`Line ${i + 1} ${why}.`] : [];
  });
  const example = (i: number, change: Partial<Form["examples"][number]>) =>
    set({ ...form, examples: form.examples.map((e, k) => (k === i ? { ...e, ...change } : e)) });
  return (
    <>
      <Area
        label="Role"
        rows={3}
        value={form.who}
        set={(who) => set({ ...form, who })}
        error={error}
        help="The assistant's name, where it is, and who talks to it."
        placeholder="You are the voice at the entrance of the Clock Museum. Visitors ask you questions."
      />
      <Area
        label="Facts"
        rows={10}
        value={form.facts.join("\n")}
        set={(t) => set({ ...form, facts: lines(t) })}
        help={
          "One a line, each a whole sentence that is clear on its own. An exception gets a line of its " +
          "own. Say also what there is not, if people ask for it."
        }
        placeholder={
          "The museum is open from 10 in the morning to 6 in the evening.\nOn Mondays the museum is " +
          "closed.\nA ticket for an adult costs 14 dollars."
        }
      />
      {doubtful.length > 0 && (
        <ul class="advice" aria-label="Advice on the facts">
          {doubtful.slice(0, 5).map((d) => (
            <li key={d}>{d}</li>
          ))}
        </ul>
      )}
      <Area
        label="Rules"
        rows={3}
        value={form.rules.join("\n")}
        set={(t) => set({ ...form, rules: lines(t) })}
        help={
          "One a line: what the assistant should do and should not do. Short spoken sentences need not be " +
          "said, the box says it."
        }
        placeholder="Send visitors who want a refund to the ticket desk."
      />
      <fieldset>
        <legend>Examples</legend>
        <p class="help">
          Questions that the assistant answered wrongly, with the answer that your staff would give. A few are enough.
        </p>
        {form.examples.map((e, i) => (
          <div class="row example" key={i}>
            <Field
              label={`Question ${i + 1}`}
              value={e.question}
              set={(question) => example(i, { question })}
              maxLength={500}
              placeholder="Are you open on Monday?"
            />
            <Field
              label={`Answer ${i + 1}`}
              value={e.answer}
              set={(answer) => example(i, { answer })}
              maxLength={500}
              placeholder="No, on Mondays we are closed."
            />
            <button
              type="button"
              aria-label={`Remove example ${i + 1}`}
              onClick={() => set({ ...form, examples: form.examples.filter((_, k) => k !== i) })}
            >
              Remove
            </button>
          </div>
        ))}
        <button
          type="button"
          disabled={form.examples.length >= 32}
          onClick={() => set({ ...form, examples: [...form.examples, { question: "", answer: "" }] })}
        >
          Add an example
        </button>
      </fieldset>
      <Area
        label="Variables"
        rows={2}
        value={form.last}
        set={(last) => set({ ...form, last })}
        help={
          "Sentences with variables that the client fills in, such as {{name}}. They come last, because the model " +
          "processes the text before the first variable only once for all chats."
        }
        placeholder="The visitor is called {{name}}."
      />
    </>
  );
}
