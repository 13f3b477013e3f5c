import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Answers, Example, ReturnUserDefinedTool, Webhook } from "../../rest";
import { Check, Field, Select } from "../parts/field";
import { to } from "../route";
import { AreaAt, CheckAt, ChoiceAt, NumberAt, TextAt, useBound } from "./form_fields";
import type { Choices } from "./choices";
import { tagged } from "./voice";

// Sections is the form of a config, with the fields that people change most first.
// id is the config's, once it is saved.
export function Sections({ known, id }: { known: Choices; id?: string }) {
  return (
    <>
      <Section title="Prompt">
        <Prompt known={known} />
        <Examples />
      </Section>
      <Section title="Approved answers">
        <Approved id={id} />
      </Section>
      <Section title="Voice">
        <Voice known={known} />
      </Section>
      <Section title="Language model">
        <Model known={known} />
      </Section>
      <Section title="Tools">
        <Tools known={known} />
      </Section>
      <Section title="Spoken without a question">
        <ByItself />
      </Section>
      <Section title="Turns">
        <Turns />
      </Section>
      <Section title="Time limits">
        <Ends />
      </Section>
      <Section title="Webhooks">
        <Webhooks />
      </Section>
    </>
  );
}

function Section({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <details class="card section" open>
      <summary>
        <h2>{title}</h2>
      </summary>
      {children}
    </details>
  );
}

function Prompt({ known }: { known: Choices }) {
  const id = useBound<string>("prompt.id");
  const prompt = useBound<object>("prompt");
  const chosen = known.prompts.find((p) => p.id === id.value);
  return (
    <>
      <Select
        label="Prompt"
        value={id.value ?? ""}
        set={(v) => prompt.set(v ? { id: v } : undefined)}
        error={prompt.error ?? id.error}
        options={[["", "Default"], ...known.prompts.map((p) => [p.id, p.name] as const)]}
        help="A custom language model brings its own prompt; leave this empty for one."
      />
      {chosen && (
        <>
          <NumberAt
            path="prompt.version"
            label="Version of the prompt"
            min={0}
            max={chosen.version}
            placeholder={`newest, now ${chosen.version}`}
            help="Empty follows the newest version. A number pins that version."
          />
          <p>
            <a href={to("prompts", chosen.id)}>Edit and try {chosen.name}</a>
          </p>
          <CheckAt
            path="prompt.prompt_expansion.enabled"
            label="Add the built-in rules before the prompt"
            otherwise
            help="The rules help small models to answer in short spoken sentences, from the facts only."
          />
        </>
      )}
    </>
  );
}

// listed returns the entries of a list and functions to change them. An empty list is removed.
function useListed<T>(path: string) {
  const list = useBound<T[]>(path);
  const all = list.value ?? [];
  return {
    all,
    error: list.error,
    add: (one: T) => list.set([...all, one]),
    drop: (i: number) => list.set(all.filter((_, k) => k !== i)),
    set: list.set,
  };
}

function Examples() {
  const examples = useListed<Example>("examples");
  return (
    <fieldset>
      <legend>Examples</legend>
      <p class="help">
        Questions with the right answers, added after the prompt. Give a few, for what people ask most.
      </p>
      {examples.error && <p class="error">{examples.error}</p>}
      {examples.all.map((_, i) => (
        <div class="row example" key={i}>
          <TextAt path={`examples[${i}].user`} label={`Question ${i + 1}`} maxLength={500} />
          <TextAt path={`examples[${i}].assistant`} label={`Answer ${i + 1}`} maxLength={500} />
          <button type="button" aria-label={`Remove example ${i + 1}`} onClick={() => examples.drop(i)}>
            Remove
          </button>
        </div>
      ))}
      <button
        type="button"
        disabled={examples.all.length >= 32}
        onClick={() => examples.add({ user: "", assistant: "" })}
      >
        Add an example
      </button>
    </fieldset>
  );
}

function Approved({ id }: { id?: string }) {
  const answers = useBound<Answers>("answers");
  const count = answers.value?.items.length ?? 0;
  return (
    <>
      <p class="help">
        What must be right is said word for word: prices, opening hours, the way to the lift.
        {answers.value?.mode === "only" && " Nothing else is said."}
      </p>
      {answers.error && <p class="error">{answers.error}</p>}
      <p>
        {id ? (
          <a href={to("answers", id)}>{count === 0 ? "Write answers" : `Edit ${counted(count)}`}</a>
        ) : (
          "Make the config first, then write its answers."
        )}
      </p>
    </>
  );
}

const counted = (n: number) => (n === 1 ? "1 answer" : `${n} answers`);

function Voice({ known }: { known: Choices }) {
  const voice = useBound<{ id: string; provider?: string }>("voice");
  const said = (v: Choices["voices"][number]) =>
    [v.name, ...(v.provider === "CUSTOM_VOICE" ? ["yours"] : tagged(v, "LANGUAGE"))].join(", ");
  return (
    <>
      <Select
        label="Voice"
        value={voice.value?.id ?? ""}
        error={voice.error}
        set={(id) => {
          const v = known.voices.find((one) => one.id === id);
          voice.set(v && { id, provider: v.provider });
        }}
        options={[["", "Default"], ...known.voices.map((v) => [v.id, said(v)] as const)]}
        help="A voice pronounces every text in its own language."
      />
      <p>
        <a href={to("voices")}>Listen to the voices</a> or <a href={to("voices", "design")}>design one</a>
      </p>
      <ChoiceAt
        path="evi_version"
        label="Generation"
        options={[
          ["4-mini", "4-mini"],
          ["3", "3 (wants a voice)"],
          ["2", "2"],
          ["1", "1"],
        ]}
        help="Some clients ask for it. Parley behaves the same in every generation."
      />
    </>
  );
}

function Model({ known }: { known: Choices }) {
  const model = useBound<{ model_provider?: string; model_resource?: string }>("language_model");
  const own = known.models.filter((m) => m.model_resource !== "*");
  const value = model.value?.model_provider ? `${model.value.model_provider} ${model.value.model_resource ?? ""}` : "";
  const options: [string, string][] = own.map((m) => [
    `${m.model_provider} ${m.model_resource}`,
    `${m.model_resource}${m.served_by === m.model_resource ? "" : `, answered by ${m.served_by}`}` +
      (m.embedded ? "" : ", on a server"),
  ]);
  if (value && !options.some(([v]) => v === value)) options.push([value, value]);
  return (
    <>
      <Select
        label="Model"
        value={value}
        error={model.error}
        set={(v) => {
          const [model_provider, ...rest] = v.split(" ");
          model.set(v ? { ...model.value, model_provider, model_resource: rest.join(" ") || undefined } : undefined);
        }}
        options={[["", "Default"], ...options]}
        help="The models of this box, by the names that clients use."
      />
      <details>
        <summary>By provider and name</summary>
        <div class="row">
          <ChoiceAt
            path="language_model.model_provider"
            label="Provider"
            options={[["", "None"], ...providers.map((p) => [p, p] as const)]}
          />
          <TextAt path="language_model.model_resource" label="Name, or URL of a custom model" maxLength={1024} />
        </div>
      </details>
      <div class="row">
        <NumberAt
          path="language_model.temperature"
          label="Temperature"
          min={0}
          max={2}
          step="any"
          placeholder="0"
          help="0 repeats the same answer; 2 varies most."
        />
      </div>
      <CheckAt
        path="ellm_model.allow_short_responses"
        label="Allow a short first answer when the model is slow"
        otherwise
      />
      <Fallback />
    </>
  );
}

const providers = [
  "HUME_AI",
  "CUSTOM_LANGUAGE_MODEL",
  "OPEN_AI",
  "ANTHROPIC",
  "GOOGLE",
  "GROQ",
  "FIREWORKS",
  "AMAZON_BEDROCK",
  "PERPLEXITY",
  "SAMBANOVA",
  "CEREBRAS",
  "X_AI",
];

function Fallback() {
  const list = useListed<{ model_provider: string; model_resource?: string }>("language_model.fallback");
  return (
    <fieldset>
      <legend>Fallback</legend>
      <p class="help">Models to try in this order when the model fails. Without any, the box's setting applies.</p>
      {list.error && <p class="error">{list.error}</p>}
      {list.all.map((_, i) => (
        <div class="row example" key={i}>
          <ChoiceAt
            path={`language_model.fallback[${i}].model_provider`}
            label={`Provider ${i + 1}`}
            options={providers.map((p) => [p, p] as const)}
          />
          <TextAt path={`language_model.fallback[${i}].model_resource`} label={`Name ${i + 1}`} maxLength={1024} />
          <button
            type="button"
            aria-label={`Remove model ${i + 1}`}
            onClick={() => (list.all.length === 1 ? list.set(undefined) : list.drop(i))}
          >
            Remove
          </button>
        </div>
      ))}
      <button type="button" disabled={list.all.length >= 4} onClick={() => list.add({ model_provider: "HUME_AI" })}>
        Add a fallback model
      </button>
    </fieldset>
  );
}

// fewTools is how many tools are listed without a search field.
const fewTools = 12;

const builtin = [
  ["hang_up", "Hang up", "Ends the chat after a goodbye."],
  ["web_search", "Search the web", "Uses the box's search server, if one is set."],
] as const;

function Tools({ known }: { known: Choices }) {
  const tools = useListed<{ id: string; version?: number }>("tools");
  const own = useListed<{ name: string; fallback_content?: string }>("builtin_tools");
  const [search, setSearch] = useState("");
  const has = (t: ReturnUserDefinedTool) => tools.all.findIndex((one) => one.id === t.id);
  const named = known.tools.filter(
    (t) => has(t) >= 0 || `${t.name} ${t.plugin ?? ""}`.toLowerCase().includes(search.trim().toLowerCase()),
  );
  const shown = named.filter((t, i) => i < fewTools || has(t) >= 0);
  return (
    <>
      <fieldset>
        <legend>Built in</legend>
        {builtin.map(([name, label, help]) => {
          const i = own.all.findIndex((t) => t.name === name);
          return (
            <div key={name}>
              <Check label={label} help={help} value={i >= 0} set={(on) => (on ? own.add({ name }) : own.drop(i))} />
              {i >= 0 && (
                <TextAt
                  path={`builtin_tools[${i}].fallback_content`}
                  label={`Text for the model when ${name} fails`}
                  maxLength={2047}
                />
              )}
            </div>
          );
        })}
      </fieldset>
      <fieldset>
        <legend>Your tools and plugins</legend>
        {tools.error && <p class="error">{tools.error}</p>}
        {known.tools.length === 0 && (
          <p class="quiet">
            No tools yet. <a href={to("tools", "new")}>Make one</a>.
          </p>
        )}
        {known.tools.length > fewTools && (
          <Field
            label="Find a tool"
            type="search"
            value={search}
            set={setSearch}
            help={
              shown.length < named.length
                ? `${shown.length} of ${named.length} are shown: type a part of the name.`
                : undefined
            }
          />
        )}
        {shown.map((t) => {
          const i = has(t);
          return (
            <div key={t.id} class="row">
              <Check
                label={t.name}
                help={`${t.description ?? ""}${t.plugin ? ` (plugin ${t.plugin})` : ""}`}
                value={i >= 0}
                set={(on) => (on ? tools.add({ id: t.id }) : tools.drop(i))}
              />
              {i >= 0 && !t.plugin && (
                <NumberAt
                  path={`tools[${i}].version`}
                  label={`Version of ${t.name}`}
                  min={0}
                  max={t.version}
                  placeholder={`newest, now ${t.version}`}
                />
              )}
            </div>
          );
        })}
      </fieldset>
    </>
  );
}

const occasions = [
  ["on_new_chat", "Greeting", "Spoken first. Without a text the model greets in its own words."],
  ["on_inactivity_timeout", "After inactivity", "Spoken before the chat ends because nobody speaks."],
  ["on_max_duration_timeout", "At the time limit", "Spoken before the chat ends at its maximum duration."],
] as const;

function ByItself() {
  const nudges = useBound<boolean>("nudges.enabled");
  return (
    <>
      {occasions.map(([name, label, help]) => (
        <Occasion key={name} path={`event_messages.${name}`} label={label} help={help} />
      ))}
      <CheckAt path="nudges.enabled" label="After a long silence, ask whether the user is still there" />
      {nudges.value && (
        <NumberAt path="nudges.interval_secs" label="Seconds of silence" min={1} max={1800} placeholder="10" />
      )}
    </>
  );
}

function Occasion({ path, label, help }: { path: string; label: string; help: string }) {
  const on = useBound<boolean>(`${path}.enabled`);
  return (
    <>
      <Check label={label} value={on.value ?? false} set={on.set} error={on.error} />
      {on.value && (
        <AreaAt path={`${path}.text`} label={`Text: ${label.toLowerCase()}`} rows={2} maxLength={10_000} help={help} />
      )}
    </>
  );
}

function Turns() {
  return (
    <>
      <div class="row">
        <NumberAt
          path="turn_detection.end_of_turn_silence_ms"
          label="Silence that ends a turn (ms)"
          min={500}
          max={3000}
          placeholder="800"
          help="Shorter: quicker answers, but the box may interrupt a user who pauses to think."
        />
        <NumberAt
          path="interruption.min_interruption_ms"
          label="Speech that interrupts (ms)"
          min={50}
          max={2000}
          placeholder="800"
          help="How long the user must speak over the assistant to interrupt it."
        />
      </div>
      <ChoiceAt
        path="turn_detection.mode"
        label="End of turn"
        options={[
          ["", "Default"],
          ["silence", "Silence only"],
          ["semantic", "Silence after a sentence that sounds finished"],
        ]}
      />
      <details>
        <summary>Voice activity detection</summary>
        <div class="row">
          <NumberAt
            path="turn_detection.speech_detection_threshold"
            label="Threshold"
            min={0}
            max={1}
            step="any"
            placeholder="0.5"
            help="Higher ignores more noise."
          />
          <NumberAt
            path="turn_detection.prefix_padding_ms"
            label="Padding before speech (ms)"
            min={0}
            max={3000}
            placeholder="300"
          />
        </div>
      </details>
    </>
  );
}

function Ends() {
  return (
    <>
      <CheckAt path="timeouts.inactivity.enabled" label="End after inactivity" />
      <NumberAt
        path="timeouts.inactivity.duration_secs"
        label="Seconds of inactivity"
        min={30}
        max={1800}
        placeholder="600"
      />
      <CheckAt path="timeouts.max_duration.enabled" label="End after a maximum duration" />
      <NumberAt
        path="timeouts.max_duration.duration_secs"
        label="Maximum duration in seconds"
        min={30}
        max={1800}
        placeholder="1800"
        help="1,800 seconds is the limit in any case."
      />
    </>
  );
}

const events = [
  ["chat_started", "A chat begins"],
  ["chat_ended", "A chat ends"],
  ["tool_call", "A tool is called"],
] as const;

function Webhooks() {
  const hooks = useListed<Webhook>("webhooks");
  return (
    <>
      <p class="help">
        Addresses that are told what happens, signed. <code>http://</code> is for private addresses only.
      </p>
      {hooks.error && <p class="error">{hooks.error}</p>}
      {hooks.all.map((_, i) => (
        <fieldset key={i}>
          <legend>Webhook {i + 1}</legend>
          <TextAt path={`webhooks[${i}].url`} label={`URL of webhook ${i + 1}`} type="url" maxLength={2048} />
          <Told path={`webhooks[${i}].events`} />
          <button type="button" onClick={() => hooks.drop(i)}>
            Remove<span class="unseen"> webhook {i + 1}</span>
          </button>
        </fieldset>
      ))}
      <button
        type="button"
        disabled={hooks.all.length >= 32}
        onClick={() => hooks.add({ url: "", events: ["chat_ended"] })}
      >
        Add a webhook
      </button>
    </>
  );
}

function Told({ path }: { path: string }) {
  const told = useBound<string[]>(path);
  const all = told.value ?? [];
  return (
    <>
      {events.map(([name, label]) => (
        <Check
          key={name}
          label={label}
          value={all.includes(name)}
          set={(on) => told.set(events.map(([e]) => e).filter((e) => (e === name ? on : all.includes(e))))}
        />
      ))}
      {told.error && <p class="error">{told.error}</p>}
    </>
  );
}
