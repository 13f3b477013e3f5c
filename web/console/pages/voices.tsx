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

// Voices lists the voices with a sample of each. Subpages design a voice and set stand-ins.
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
            Stand-ins
          </a>
          <a class="button primary" href={to("voices", "design")}>
            Design a voice
          </a>
        </div>
      </div>
      <p>The voices of the box and the voices that you have saved. Configs and text-to-speech can use all of them.</p>
      <Area
        label="Sample text"
        rows={2}
        value={text}
        set={setText}
        maxLength={500}
        help="Each voice pronounces it in the voice's language."
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
        <Empty title="No voice found">
          <p>
            Choose fewer filters, or <a href={to("voices", "design")}>design one</a>.
          </p>
        </Empty>
      )}
      <ul class="voices">
        {shown.map((v) => (
          <li key={v.id} class="card">
            <h2>{v.name}</h2>
            <p class="tags">
              {v.provider === "CUSTOM_VOICE" && <span class="tag">saved</span>}
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
                Used by{" "}
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
                {player.waiting === v.id ? "Preparing …" : player.playing === v.id ? "Stop" : "Play"}
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
          verb="Delete"
          close={() => setDeleting(undefined)}
          does={async () => {
            await remove(withQuery("/v0/tts/voices", { name: deleting.name }));
            own.reload();
          }}
        >
          {users(deleting).length > 0 ? (
            <p>
              It is used by{" "}
              {users(deleting)
                .map((c) => c.name)
                .join(", ")}
              . Choose another voice there first.
            </p>
          ) : (
            <p>Speech made with it stays. It cannot speak any more.</p>
          )}
        </Confirm>
      )}
    </>
  );
}
