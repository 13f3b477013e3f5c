import { useEffect, useRef, useState } from "preact/hooks";
import type { ReturnConfig, ReturnVoice } from "../../rest";
import { everything } from "../api";
import { useLoad } from "../load";
import type { PageProps } from "../page";
import { Check, Field, Select } from "../parts/field";
import { ErrorLine } from "../parts/notice";
import { Conversation, type Talk as Shown, nothing } from "../talk/conversation";
import { Feelings } from "../talk/feelings";
import { Tools } from "../talk/tools";
import { Transcript } from "../talk/transcript";
import { Waterfall } from "../talk/waterfall";

const states = { listening: "Listening", thinking: "Thinking …", speaking: "Speaking", tool: "Running a tool …" };

// choices fetches the configs and voices to choose from.
async function choices() {
  const voices = (provider: string) => everything<ReturnVoice>("/v0/tts/voices", "voices_page", { provider });
  const [configs, own, library] = await Promise.all([
    everything<ReturnConfig>("/v0/evi/configs", "configs_page"),
    voices("CUSTOM_VOICE"),
    voices("HUME_AI"),
  ]);
  return { configs, voices: [...own, ...library] };
}

// Talk holds a conversation with the box and shows transcript, timing, tools and feelings. The address may name the
// config: #/talk?config=ID.
export function Talk({ route }: PageProps) {
  const [talk, setTalk] = useState<Shown>(nothing);
  const named = route.query.get("config") ?? "";
  const [config, setConfig] = useState(named);
  const [voice, setVoice] = useState("");
  const [microphone, setMicrophone] = useState(isSecureContext);
  const [keep, setKeep] = useState(true);
  const [text, setText] = useState("");
  const conversation = useRef<Conversation | null>(null);
  const all = useLoad(choices, [named]);
  useEffect(() => setConfig(named), [named]);
  useEffect(() => () => conversation.current?.stop(), []);

  const begin = (withVoice: boolean) => {
    const query: Record<string, string> = {};
    if (config) query.config_id = config;
    if (voice) query.voice_id = voice;
    if (!keep) query.keep_history = "false";
    const c = new Conversation(setTalk);
    conversation.current = c;
    return c.begin({ microphone: withVoice, query });
  };
  const send = async () => {
    const said = text.trim();
    if (!said) return;
    setText("");
    if (!live && talk.phase !== "connecting") await begin(false);
    conversation.current?.type(said);
  };
  const live = talk.phase === "live",
    busy = live || talk.phase === "connecting";
  const options = (list: { id: string; name: string }[] = []) => list.map((one) => [one.id, one.name] as const);
  return (
    <>
      <h1>Talk</h1>
      {!isSecureContext && (
        <p class="notice">
          You can type here but not speak: browsers allow the microphone only on https pages and on the machine itself,
          and this page was loaded over http. The <a href="#/settings">settings</a> listen and tls give the box a
          certificate.
        </p>
      )}
      <ErrorLine error={all.error} />
      <div class="row">
        <Select
          label="Config"
          value={config}
          set={setConfig}
          disabled={busy}
          options={[["", "Default assistant"], ...options(all.value?.configs)]}
        />
        <Select
          label="Voice"
          value={voice}
          set={setVoice}
          disabled={busy}
          options={[["", "Voice of the config"], ...options(all.value?.voices)]}
        />
      </div>
      <div class="row checks">
        <Check label="Use the microphone" value={microphone} set={setMicrophone} disabled={busy || !isSecureContext} />
        <Check label="Save in the history" value={keep} set={setKeep} disabled={busy} />
      </div>
      <div class="buttons">
        {busy ? (
          <button type="button" class="danger" onClick={() => conversation.current?.stop()}>
            End conversation
          </button>
        ) : (
          <button type="button" class="primary" onClick={() => void begin(microphone)}>
            Start conversation
          </button>
        )}
        <span role="status" class="state">
          {live
            ? talk.lost
              ? "The box cannot be reached. Reconnecting …"
              : talk.calls.some((c) => c.wanted)
                ? "A tool waits for your answer"
                : states[talk.doing]
            : talk.phase === "connecting"
              ? "Connecting …"
              : talk.notice}
        </span>
        {live && <span class="tag plain">{talk.by}</span>}
        {live && talk.microphone && <Levels of={conversation} />}
      </div>
      <div class="columns talk">
        <div>
          <section class="card" aria-labelledby="said">
            <h2 id="said">Transcript</h2>
            <Transcript said={talk.said} />
            <form
              class="row"
              onSubmit={(e) => {
                e.preventDefault();
                void send();
              }}
            >
              <Field label="Type instead" value={text} set={setText} maxLength={2000} />
              <button type="submit">Send</button>
            </form>
          </section>
          <section class="card" aria-labelledby="feelings">
            <h2 id="feelings">Feelings</h2>
            <Feelings felt={talk.felt} />
          </section>
        </div>
        <div>
          <section class="card" aria-labelledby="tools">
            <h2 id="tools">Tools</h2>
            <Tools calls={talk.calls} conversation={live ? conversation.current : null} />
          </section>
          <section class="card" aria-labelledby="times">
            <h2 id="times">Timing</h2>
            <Waterfall turns={talk.turns} />
          </section>
        </div>
      </div>
    </>
  );
}

// Levels shows the loudness of both sides, updated with every frame of the screen.
function Levels({ of }: { of: { current: Conversation | null } }) {
  const you = useRef<HTMLSpanElement>(null),
    box = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    let frame = 0;
    const draw = () => {
      if (!you.current || !box.current) return; // the component is being removed
      const l = of.current?.levels() ?? { you: 0, box: 0 };
      you.current.style.width = `${100 * l.you}%`;
      box.current.style.width = `${100 * l.box}%`;
      frame = requestAnimationFrame(draw);
    };
    draw();
    return () => cancelAnimationFrame(frame);
  }, []);
  return (
    <span class="levels" aria-hidden="true">
      <span class="level">
        <span ref={you} class="you" />
      </span>
      <span class="level">
        <span ref={box} class="box" />
      </span>
    </span>
  );
}
