import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ReturnConfig, ReturnSettings, ReturnVoice } from "../../rest";
import { everything, get, post } from "../api";
import { useDoing } from "../load";
import { Field } from "../parts/field";
import { ErrorLine } from "../parts/notice";
import { draftOf } from "../pages/draft";
import { faultsOf, unplaced, useShown } from "../pages/faults";
import { usePlayer } from "../pages/player";
import { useUnsaved } from "../pages/unsaved";
import { mayFollow } from "../pages/versions";
import { spoken } from "../pages/voice";
import { to } from "../route";
import { List } from "./list";
import { Mode } from "./mode";
import type { Acts } from "./row";
import { type AnswersMode, type Row, faultsOfRows, freshKey, idsOf } from "./rows";
import { isOfTable, itemsOf, rowsOf, sameRows } from "./rows";
import { TryQuestion } from "./try";

const path = "/v0/evi/configs";

// Editor edits the approved answers of a config.
export function Editor({ saved, reload, item }: { saved: ReturnConfig; reload: () => void; item: string }) {
  const [before, setBefore] = useState(() => rowsOf(saved.answers?.items ?? []));
  const [rows, setRows] = useState(before);
  const [mode, setMode] = useState<AnswersMode>(saved.answers?.mode ?? "first");
  const [unknown, setUnknown] = useState(saved.answers?.unknown ?? "");
  const [why, setWhy] = useState("");
  const [search, setSearch] = useState(item);
  const [sentKeys, setSentKeys] = useState<number[]>([]);
  const saving = useDoing(),
    listening = useDoing();
  const player = usePlayer();
  const ids = useMemo(() => idsOf(rows), [rows]);
  const changed =
    !sameRows(rows, before) || mode !== (saved.answers?.mode ?? "first") || unknown !== (saved.answers?.unknown ?? "");
  useUnsaved(changed, saving.busy);
  useShown(saving.error);
  const faults = useMemo(() => faultsOf(saving.error), [saving.error]);
  const rowFaults = useMemo(() => faultsOfRows(faults, sentKeys), [faults, sentKeys]);
  const save = () =>
    saving.run(async () => {
      if (!(await mayFollow(path, "configs_page", saved))) return;
      const { items, keys } = itemsOf(rows);
      setSentKeys(keys);
      const answers = { mode, unknown: unknown.trim() ? unknown : undefined, items };
      await post(`${path}/${saved.id}`, { ...draftOf(saved), answers, version_description: why || undefined });
      const now = keys.map((key, i) => ({ ...rowsOf([items[i]!])[0]!, key }));
      setBefore(now);
      setRows(now);
      setWhy("");
      reload();
    });
  const listen = (row: Row) => {
    const key = String(row.key);
    if (player.playing === key || player.waiting === key) return player.stop();
    void listening.run(() => player.play(key, (signal) => spokenBy(saved, row.say, signal)));
  };
  // What the rows call stays the same, so that only the row that changed is drawn again.
  const newest = useRef<Acts>(undefined!);
  newest.current = {
    change: (row) => setRows((all) => all.map((r) => (r.key === row.key ? row : r))),
    drop: (row) => setRows((all) => all.filter((r) => r.key !== row.key)),
    listen,
  };
  const acts = useMemo<Acts>(
    () => ({
      change: (row) => newest.current.change(row),
      drop: (row) => newest.current.drop(row),
      listen: (row) => newest.current.listen(row),
    }),
    [],
  );
  const focus = useFocus();
  const add = (ask: string) => {
    const row = { key: freshKey(rows), id: "", ask, say: "" };
    setSearch("");
    setRows([row, ...rows]);
    focus(row.key);
  };
  const show = (id: string) => {
    setSearch(id);
    focus([...ids].find(([, one]) => one === id)?.[0]);
  };
  const sounding = player.playing || player.waiting;
  return (
    <>
      <p>
        <a href={to("answers")}>All configs</a>
      </p>
      <div class="head">
        <h1>Answers of {saved.name}</h1>
        <div class="buttons">
          <a class="button" href={to("configs", saved.id)}>
            The config
          </a>
          <a class="button" href={`${to("talk")}?config=${saved.id}`}>
            Talk to it
          </a>
        </div>
      </div>
      <div class="beside sheet">
        <form
          onSubmit={(e) => {
            e.preventDefault();
            void save();
          }}
        >
          <section class="card">
            <Mode {...{ mode, setMode, unknown, setUnknown, faults }} />
            <Field
              label="Version note"
              value={why}
              set={setWhy}
              maxLength={255}
              help="What changed. Shown in the list of versions."
              error={faults.version_description}
            />
          </section>
          <div class="buttons">
            <button type="button" onClick={() => add("")} disabled={rows.length >= 500}>
              Add an answer
            </button>
          </div>
          <ErrorLine error={listening.error} />
          <List
            rows={rows}
            ids={ids}
            faults={rowFaults}
            search={search}
            setSearch={setSearch}
            sound={
              sounding ? { key: Number(sounding), state: player.playing ? "playing" : "waiting" } : undefined
            }
            acts={acts}
          />
          <div class="card save">
            <ErrorLine error={unplaced(saving.error, (p) => isOfTable(p) || p === "version_description")} />
            <div class="buttons">
              <button type="submit" class="primary" disabled={saving.busy || !changed}>
                Save
              </button>
              <span class="faint">
                Version {saved.version}
                {changed && ", unsaved changes"}
              </span>
            </div>
          </div>
        </form>
        <TryQuestion items={() => itemsOf(rows).items} mode={mode} unknown={unknown} show={show} />
      </div>
    </>
  );
}

// spokenBy synthesizes a text with the voice of a config, or else with the one that the box's settings name.
async function spokenBy(config: ReturnConfig, text: string, signal: AbortSignal): Promise<Blob> {
  if (config.voice) return spoken(text, config.voice, signal);
  const [{ settings }, voices] = await Promise.all([
    get<ReturnSettings>("/v0/box/settings", {}, signal),
    everything<ReturnVoice>("/v0/tts/voices", "voices_page", { provider: "HUME_AI" }),
  ]);
  const name = settings.find((s) => s.key === "engines.voice")?.value;
  const voice = voices.find((v) => v.id === name || v.id === `voice-${name}`);
  if (!voice) throw new Error("Choose a voice in the config first.");
  return spoken(text, voice, signal);
}

// useFocus returns a function that moves the focus to the first field of a row, as soon as the row is on the page.
function useFocus(): (key: number | undefined) => void {
  const [wanted, setWanted] = useState<{ key: number }>();
  useEffect(() => {
    if (!wanted) return;
    const field = document.querySelector<HTMLElement>(`[data-key="${wanted.key}"] textarea`);
    field?.focus();
    field?.closest("fieldset")?.scrollIntoView({ block: "nearest" });
  }, [wanted]);
  return (key) => setWanted(key === undefined ? undefined : { key });
}
