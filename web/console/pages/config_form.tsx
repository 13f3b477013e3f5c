import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Example, ReturnUserDefinedTool, Webhook } from "../../rest";
import { Check, Field, Select } from "../parts/field";
import { to } from "../route";
import { AreaAt, CheckAt, ChoiceAt, NumberAt, TextAt, useBound } from "./bound";
import type { Choices } from "./choices";
import { tagged } from "./voice";

// Sections are all that a config says, each with what is asked about most first.
export function Sections({ known }: { known: Choices }) {
  return (
    <>
      <Section title="What it is told">
        <Prompt known={known} />
        <Examples />
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
      <Section title="What it says by itself">
        <ByItself />
      </Section>
      <Section title="Turns">
        <Turns />
      </Section>
      <Section title="When it ends">
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
        options={[["", "The box's own"], ...known.prompts.map((p) => [p.id, p.name] as const)]}
        help="Not with a custom language model, which has a prompt of its own."
      />
      {chosen && (
        <>
          <NumberAt
            path="prompt.version"
            label="Its version"
            min={0}
            max={chosen.version}
            placeholder={`the newest, now ${chosen.version}`}
            help="Empty follows the newest version; a number stays with that one."
          />
          <p>
            <a href={to("prompts", chosen.id)}>Write {chosen.name}, and try it</a>
          </p>
          <CheckAt
            path="prompt.prompt_expansion.enabled"
            label="With the box's own rules before it"
            otherwise
            help="They help small models to answer in short spoken sentences, from the facts only."
          />
        </>
      )}
    </>
  );
}

// listed are the entries of a list, and how to change them; an empty one is absent.
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
        Questions with the answers that it should give; they stand behind the prompt. A few, about what is asked most.
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
        options={[["", "The box's own"], ...known.voices.map((v) => [v.id, said(v)] as const)]}
        help="A voice reads every text as its own language."
      />
      <p>
        <a href={to("voices")}>Hear them</a> or <a href={to("voices", "design")}>design one</a>
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
        help="For clients that ask; the box behaves the same in all."
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
        options={[["", "The box's own"], ...options]}
        help="What this box can serve, as clients name it."
      />
      <details>
        <summary>By its provider and name</summary>
        <div class="row">
          <ChoiceAt
            path="language_model.model_provider"
            label="Provider"
            options={[["", "None"], ...providers.map((p) => [p, p] as const)]}
          />
          <TextAt path="language_model.model_resource" label="Name, or the address of a custom one" maxLength={1024} />
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
          help="0 says the same each time; 2 is wild."
        />
      </div>
      <CheckAt
        path="ellm_model.allow_short_responses"
        label="A short answer may come first where the model is late"
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
      <legend>Where it fails</legend>
      <p class="help">Models that answer then, one after the other. Without any, the box's setting holds.</p>
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
        Add a model
      </button>
    </fieldset>
  );
}

// fewTools can be looked over; more are searched.
const fewTools = 12;

const builtin = [
  ["hang_up", "Hang up", "Ends the chat after a goodbye."],
  ["web_search", "Search the web", "On the box's search server, if it has one."],
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
        <legend>Of the box</legend>
        {builtin.map(([name, label, help]) => {
          const i = own.all.findIndex((t) => t.name === name);
          return (
            <div key={name}>
              <Check label={label} help={help} value={i >= 0} set={(on) => (on ? own.add({ name }) : own.drop(i))} />
              {i >= 0 && (
                <TextAt
                  path={`builtin_tools[${i}].fallback_content`}
                  label={`What it is told where ${name} fails`}
                  maxLength={2047}
                />
              )}
            </div>
          );
        })}
      </fieldset>
      <fieldset>
        <legend>Yours, and of plugins</legend>
        {tools.error && <p class="error">{tools.error}</p>}
        {known.tools.length === 0 && (
          <p class="quiet">
            There are none. <a href={to("tools", "new")}>Make one</a>.
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
                  placeholder={`the newest, now ${t.version}`}
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
  ["on_new_chat", "At the beginning", "Without a text it greets in words of its own."],
  ["on_inactivity_timeout", "When nobody has spoken for long", "Before the chat ends for that."],
  ["on_max_duration_timeout", "When the chat has been long enough", "Before it ends for that."],
] as const;

function ByItself() {
  const nudges = useBound<boolean>("nudges.enabled");
  return (
    <>
      {occasions.map(([name, label, help]) => (
        <Occasion key={name} path={`event_messages.${name}`} label={label} help={help} />
      ))}
      <CheckAt path="nudges.enabled" label="Ask whether somebody is there, where it is silent for long" />
      {nudges.value && (
        <NumberAt path="nudges.interval_secs" label="After so many seconds" min={1} max={1800} placeholder="10" />
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
        <AreaAt
          path={`${path}.text`}
          label={`What it says: ${label.toLowerCase()}`}
          rows={2}
          maxLength={10_000}
          help={help}
        />
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
          label="Silence that ends a turn, in ms"
          min={500}
          max={3000}
          placeholder="800"
          help="Shorter answers sooner, and interrupts who thinks in between."
        />
        <NumberAt
          path="interruption.min_interruption_ms"
          label="Voice that interrupts, in ms"
          min={50}
          max={2000}
          placeholder="800"
          help="So long has somebody to speak over the assistant."
        />
      </div>
      <ChoiceAt
        path="turn_detection.mode"
        label="What ends a turn"
        options={[
          ["", "As the box is set"],
          ["silence", "Silence alone"],
          ["semantic", "Silence, and that it sounds finished"],
        ]}
      />
      <details>
        <summary>How voice is found</summary>
        <div class="row">
          <NumberAt
            path="turn_detection.speech_detection_threshold"
            label="Threshold"
            min={0}
            max={1}
            step="any"
            placeholder="0.5"
            help="Higher hears less of what is no voice."
          />
          <NumberAt
            path="turn_detection.prefix_padding_ms"
            label="Heard before the voice, in ms"
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
      <CheckAt path="timeouts.inactivity.enabled" label="Where nobody says anything" />
      <NumberAt
        path="timeouts.inactivity.duration_secs"
        label="For so many seconds"
        min={30}
        max={1800}
        placeholder="600"
      />
      <CheckAt path="timeouts.max_duration.enabled" label="Where it has been long" />
      <NumberAt
        path="timeouts.max_duration.duration_secs"
        label="So many seconds"
        min={30}
        max={1800}
        placeholder="1800"
        help="After 1,800 it ends in any case."
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
          <TextAt path={`webhooks[${i}].url`} label={`Address of webhook ${i + 1}`} type="url" maxLength={2048} />
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
