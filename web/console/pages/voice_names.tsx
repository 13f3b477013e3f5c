import { useState } from "preact/hooks";
import type { ReturnVoice, ReturnVoiceAlias, ReturnVoiceAliases } from "../../rest";
import { everything, get, put, remove } from "../api";
import { useDoing, useLoad } from "../load";
import { Field, Select } from "../parts/field";
import { ErrorLine, Failure, Loading } from "../parts/notice";
import { Table } from "../parts/table";
import { to } from "../route";
import { faultsOf, unplaced } from "./faults";

const path = "/v0/box/voice-aliases";
const of = (name: string) => `${path}/${encodeURIComponent(name)}`;
const sources: Record<ReturnVoiceAlias["from"], string> = {
  box: "this box",
  settings: "the settings",
  built_in: "built in",
};

// VoiceNames lists the stand-ins: voices of the box that answer to the names of voices it does not have.
export function VoiceNames() {
  const aliases = useLoad((signal) => get<ReturnVoiceAliases>(path, {}, signal), []);
  const library = useLoad(() => everything<ReturnVoice>("/v0/tts/voices", "voices_page", { provider: "HUME_AI" }), []);
  const [name, setName] = useState(""),
    [voice, setVoice] = useState("");
  const [search, setSearch] = useState("");
  const [said, setSaid] = useState("");
  const doing = useDoing();
  const faults = faultsOf(doing.error);
  const change = (does: () => Promise<string>) =>
    doing.run(async () => {
      setSaid("");
      setSaid(await does());
      aliases.reload();
    });
  const chosen = voice || library.value?.[0]?.id || "";
  const shown =
    aliases.value?.aliases.filter((a) =>
      [a.name, a.id ?? "", a.voice].some((t) => t.toLowerCase().includes(search.trim().toLowerCase())),
    ) ?? [];
  const failed = aliases.error ?? library.error;
  return (
    <>
      <p>
        <a href={to("voices")}>All voices</a>
      </p>
      <h1>Stand-ins</h1>
      <p>
        Programs written for another service ask for its voices by name or id. For each of them, a voice of this box
        stands in. Stand-ins for the voices of the cloud library are built in.
      </p>
      <section class="card">
        <form
          class="row"
          onSubmit={(e) => {
            e.preventDefault();
            void change(async () => {
              const made = await put<ReturnVoiceAlias>(of(name.trim()), { voice: chosen });
              setName("");
              return `${made.voice} stands in for ${made.name}.`;
            });
          }}
        >
          <Field label="Requested name or id" value={name} set={setName} required maxLength={100} error={faults.name} />
          <Select
            label="Stand-in"
            value={chosen}
            set={setVoice}
            error={faults.voice}
            options={(library.value ?? []).map((v) => [v.id, v.name] as const)}
          />
          <button type="submit" class="primary" disabled={doing.busy || !name.trim() || !chosen}>
            Save
          </button>
        </form>
        <ErrorLine error={unplaced(doing.error, (p) => p === "name" || p === "voice")} />
        <p role="status">{said}</p>
      </section>
      <Field label="Search" type="search" value={search} set={setSearch} placeholder="Name, id or voice" />
      {failed && (
        <Failure
          error={failed}
          again={() => {
            aliases.reload();
            library.reload();
          }}
        />
      )}
      {!aliases.value && !failed && <Loading />}
      {shown.length > 0 && (
        <Table
          caption="Stand-ins"
          rows={shown}
          id={(a) => a.from + a.name}
          columns={[
            {
              head: "Name",
              cell: (a) => (
                <>
                  {a.name}
                  {a.id && (
                    <>
                      <br />
                      <code class="faint">{a.id}</code>
                    </>
                  )}
                </>
              ),
            },
            {
              head: "Stand-in",
              cell: (a) => (
                <>
                  {a.voice} {a.missing && <span class="tag">not installed</span>}
                </>
              ),
            },
            { head: "From", cell: (a) => <span class="word">{sources[a.from]}</span> },
            {
              head: "",
              cell: (a) =>
                a.from === "box" ? (
                  <button
                    type="button"
                    class="danger"
                    disabled={doing.busy}
                    onClick={() =>
                      void change(async () => {
                        await remove(of(a.name));
                        return `The stand-in for ${a.name} was removed.`;
                      })
                    }
                  >
                    Remove<span class="unseen"> {a.name}</span>
                  </button>
                ) : null,
            },
          ]}
        />
      )}
    </>
  );
}
