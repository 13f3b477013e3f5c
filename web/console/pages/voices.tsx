import { useState } from "preact/hooks";
import type { ReturnConfig, ReturnVoice } from "../../rest";
import { everything, remove, withQuery } from "../api";
import { useDoing, useLoad } from "../load";
import type { PageProps } from "../page";
import { Confirm } from "../parts/dialog";
import { Area, Field, Select } from "../parts/field";
import { Empty, ErrorLine, Failure, Loading } from "../parts/notice";
import { to } from "../route";
import { Design } from "./design";
import { usePlayer } from "./player";
import { spoken, tagged } from "./voice";
import { VoiceNames } from "./voice_names";

const sentence = "Good morning, and welcome. The museum opens at ten.";

// Voices are those to hear; one may be designed, or stand in for others.
export function Voices({ route }: PageProps) {
  if (route.rest[0] === "names") return <VoiceNames />;
  return route.rest[0] === "design" ? <Design /> : <Library />;
}

type Tag = "LANGUAGE" | "GENDER" | "ACCENT" | "STYLE" | "MODEL";
const tags: [Tag, string][] = [
  ["LANGUAGE", "Language"],
  ["GENDER", "Gender"],
  ["ACCENT", "Accent"],
  ["STYLE", "Style"],
  ["MODEL", "Model"],
];

function Library() {
  const library = useLoad(() => everything<ReturnVoice>("/v0/tts/voices", "voices_page", { provider: "HUME_AI" }), []);
  const own = useLoad(() => everything<ReturnVoice>("/v0/tts/voices", "voices_page", { provider: "CUSTOM_VOICE" }), []);
  const configs = useLoad(() => everything<ReturnConfig>("/v0/evi/configs", "configs_page"), []);
  const [text, setText] = useState(sentence);
  const [search, setSearch] = useState("");
  const [chosen, setChosen] = useState<Partial<Record<Tag, string>>>({});
  const [deleting, setDeleting] = useState<ReturnVoice>();
  const player = usePlayer();
  const doing = useDoing();
  const all = [...(own.value ?? []), ...(library.value ?? [])];
  const shown = all.filter(
    (v) =>
      v.name.toLowerCase().includes(search.trim().toLowerCase()) &&
      Object.entries(chosen).every(([tag, value]) => !value || tagged(v, tag).includes(value)),
  );
  const users = (v: ReturnVoice) => configs.value?.filter((c) => c.voice?.id === v.id) ?? [];
  const press = (v: ReturnVoice) => {
    if (player.playing === v.id || player.waiting === v.id) player.stop();
    else void doing.run(() => player.play(v.id, (signal) => spoken(text.trim() || sentence, v, signal)));
  };
  const values = (tag: Tag) => [...new Set(all.flatMap((v) => tagged(v, tag)))].sort();
  const failed = library.error ?? own.error;
  return (
    <>
      <div class="head">
        <h1>Voices</h1>
        <div class="buttons">
          <a class="button" href={to("voices", "names")}>
            Names of other voices
          </a>
          <a class="button primary" href={to("voices", "design")}>
            Design a voice
          </a>
        </div>
      </div>
      <p>Those that the box brings, and those that you have saved. Configs and text-to-speech take any of them.</p>
      <Area
        label="What they say"
        rows={2}
        value={text}
        set={setText}
        maxLength={500}
        help="Each voice reads it as its own language."
      />
      <div class="row">
        <Field label="Name" type="search" value={search} set={setSearch} />
        {tags
          .filter(([tag]) => values(tag).length > 1)
          .map(([tag, label]) => (
            <Select
              key={tag}
              label={label}
              value={chosen[tag] ?? ""}
              set={(value) => setChosen({ ...chosen, [tag]: value })}
              options={[["", "Any"], ...values(tag).map((v) => [v, v] as const)]}
            />
          ))}
      </div>
      <p role="status" class="faint">
        {all.length > 0 && `${shown.length} of ${all.length} voices`}
      </p>
      <ErrorLine error={doing.error} />
      {failed && (
        <Failure
          error={failed}
          again={() => {
            library.reload();
            own.reload();
          }}
        />
      )}
      {all.length === 0 && !failed && <Loading />}
      {all.length > 0 && shown.length === 0 && (
        <Empty title="No voice is like that">
          <p>
            Choose fewer of the filters, or <a href={to("voices", "design")}>design one</a>.
          </p>
        </Empty>
      )}
      <ul class="voices">
        {shown.map((v) => (
          <li key={v.id} class="card">
            <h2>{v.name}</h2>
            <p class="tags">
              {v.provider === "CUSTOM_VOICE" && <span class="tag">yours</span>}
              {tags
                .flatMap(([tag]) => tagged(v, tag))
                .map((value) => (
                  <span key={value} class="tag plain">
                    {value}
                  </span>
                ))}
            </p>
            {users(v).length > 0 && (
              <p class="faint">
                Speaks in{" "}
                {users(v).map((c, i) => (
                  <>
                    {i > 0 && ", "}
                    <a key={c.id} href={to("configs", c.id)}>
                      {c.name}
                    </a>
                  </>
                ))}
              </p>
            )}
            <div class="buttons">
              <button type="button" aria-pressed={player.playing === v.id} onClick={() => press(v)}>
                {player.waiting === v.id ? "Is made …" : player.playing === v.id ? "Stop" : "Play"}
                <span class="unseen"> {v.name}</span>
              </button>
              {v.provider === "CUSTOM_VOICE" && (
                <button type="button" class="danger" onClick={() => setDeleting(v)}>
                  Delete<span class="unseen"> {v.name}</span>
                </button>
              )}
            </div>
          </li>
        ))}
      </ul>
      {deleting && (
        <Confirm
          title={`Delete the voice ${deleting.name}?`}
          verb="Delete it"
          close={() => setDeleting(undefined)}
          does={async () => {
            await remove(withQuery("/v0/tts/voices", { name: deleting.name }));
            own.reload();
          }}
        >
          {users(deleting).length > 0 ? (
            <p>
              It speaks in{" "}
              {users(deleting)
                .map((c) => c.name)
                .join(", ")}
              : choose another voice there first.
            </p>
          ) : (
            <p>What was made with it stays; nothing more can be said by it.</p>
          )}
        </Confirm>
      )}
    </>
  );
}
